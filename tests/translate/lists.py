"""What is known of the list of sentences that were written by hand."""

PLAIN = 373  # sentences at its beginning; those written later are there because they may go wrong

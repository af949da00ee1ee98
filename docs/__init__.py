"""The documents of the site, in docs/en and docs/ko, the figures of its gallery, and what builds it."""

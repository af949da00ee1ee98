"""What builds the site: `python -m docs.site`, or `make docs`.

__main__      the command
sources       which file becomes which page, and links between them
reference     the pages of the reference, one directive for each public name
conf          Sphinx's settings, the same for both languages
switch        from a page to the same page in the other language
mathml        formulas as MathML, which browsers show without a script
korean        search that finds 쿼리 in 쿼리를, with a script for the browser
docstrings    our docstrings and signatures, as Sphinx reads them
translations  the theme's and the search's words in Korean
words         what the site itself says, in both languages
"""

"""Sphinx's settings, the same for both languages; the command gives `language`, `locale_dirs` and the folders."""

from pathlib import Path

from clearhead import __version__

HERE = Path(__file__).parent

project = "clearhead"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "docs.site.docstrings",
    "docs.site.korean",
    "docs.site.mathml",
    "docs.site.switch",
]
templates_path = [str(HERE / "templates")]

# pages
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = True
nb_execution_mode = "off"  # notebooks come with their outputs

# the reference
default_role = "py:obj"  # `look` in a docstring is a link where there is such a name, and code where not
autodoc_typehints = "none"  # docs.site.docstrings writes them
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

# the look
html_theme = "furo"
html_title = project
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_search_summary = False  # its script fetches pages, which a browser refuses from file://
html_copy_source = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-dark"
html_theme_options = {
    "top_of_page_buttons": ["view"],  # templates/components/view-this-page.html is the switch between languages
    "light_css_variables": {
        "color-brand-primary": "#6b2180",
        "color-brand-content": "#7d2a91",
        "color-brand-visited": "#7d2a91",
    },
    "dark_css_variables": {
        "color-brand-primary": "#f6b48f",
        "color-brand-content": "#f6b48f",
        "color-brand-visited": "#f6b48f",
    },
}

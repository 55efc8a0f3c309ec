"""How Sphinx builds the site; `make docs` runs `build.py`, which calls it."""

import sys
from pathlib import Path

import schedlab

sys.path.insert(0, str(Path(__file__).parent))  # the folder of `pictures`

project = "schedlab"
author = "The schedlab developers"
version = release = schedlab.__version__
language = "en"
exclude_patterns = ["README.md"]
templates_path = ["_templates"]

extensions = ["myst_nb", "numpydoc", "pictures", "sphinx.ext.autosummary", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_default_options = {"members": True}  # only members with docstrings
autodoc_preserve_defaults = True  # ENTRANTS, not the sixteen schemes in it
autodoc_typehints = "none"  # numpydoc's sections give the types
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "code"
toc_object_entries = False

# Notebooks run while the site is built. Their outputs are kept until the notebooks change.
nb_execution_mode = "cache"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_output_stderr = "remove"  # progress bars
nb_ipywidgets_js = {}  # nothing from other hosts; live figures contain all that they need
suppress_warnings = ["mystnb.unknown_mime_type", "misc.highlighting_failure"]

html_theme = "pydata_sphinx_theme"
html_title = "schedlab"
html_static_path = ["_static"]
html_js_files = [("charts.js", {"defer": "defer"}), "live.js"]
html_favicon = "_static/icon.svg"
html_context = {"default_mode": "auto"}
html_sidebars = {"notebooks/*": [], "index": [], "papers": []}  # charts and walls need the width
html_css_files = ["site.css"]
html_use_index = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copyright = "The schedlab developers; BSD-3-Clause"

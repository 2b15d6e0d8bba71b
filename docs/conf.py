"""How the documentation site is built.

uv run --group docs python -m sphinx -W -b html docs docs/_build/html
"""

import importlib
import re
import sys
from pathlib import Path

import leavezero

sys.path.insert(0, str(Path(__file__).parent))
import _site_pages

PUBLIC = (
    "augment",
    "diagnostics",
    "exceptions",
    "leave_one_out",
    "search",
    "semi_supervised",
    "unsupervised",
    "testing",
)

project = "leavezero"
author = "The leavezero developers"
copyright = author
version = release = leavezero.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_generated/gallery/**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
nitpicky = True  # a broken reference is a warning, and warnings are errors
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|scipy|pandas|optuna|matplotlib)\..*")]

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme = "pydata_sphinx_theme"
html_title = "leavezero"
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "collapse_navigation": True,
    "use_edit_page_button": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": []}

autosummary_generate = True
autodoc_typehints = "none"  # docstrings describe the types of parameters
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "_generated/gallery",
    # These two are shown but not run: one is slow, one needs Dask. Tests run them.
    "filename_pattern": r"[/\\](?!semi_supervised|dask_cluster)\w+\.py$",
    "ignore_pattern": r"__init__\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "only_warn_on_example_error": True,
    "write_computation_times": False,
}


def public_packages():
    """Return the public packages, the top-level one first."""
    return [leavezero, *(importlib.import_module(f"leavezero.{name}") for name in PUBLIC)]


def setup(app):
    """Write the generated pages, and connect the event handlers."""
    _site_pages.write(Path(app.srcdir), public_packages())
    app.connect("source-read", _site_pages.map_links)
    app.connect("autodoc-process-docstring", escape_shapes, priority=100)  # before numpydoc
    app.connect("autodoc-skip-member", skip_third_party)
    app.connect("missing-reference", resolve_by_name)


def skip_third_party(app, what, name, member, skip, options):
    """Skip members of scikit-learn and Python, which are documented there."""
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    module = getattr(function, "__module__", None) or ""
    return True if module and not module.startswith("leavezero") else None


def escape_shapes(app, what, name, documented, options, lines):
    """Escape fitted attributes in shapes, such as (n_features_in_,), which look like links."""
    lines[:] = [re.sub(r"\((\w+)_,", r"(\1\\_,", line) for line in lines]


def resolve_by_name(app, env, node, content):
    """Resolve a short name, or another import path, to the page of the same object."""
    if node.get("refdomain") != "py":
        return None
    target = _site_pages.address_of(node["reftarget"], public_packages())
    if target is None:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)

"""How the documentation site is built.

uv run --group docs python -m sphinx -W -j auto -b html docs docs/_build/html
"""

import importlib
import pkgutil
import re
import sys
from pathlib import Path

import leavezero

sys.path.insert(0, str(Path(__file__).parent))
import _site_pages

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
nitpicky = True  # a reference that leads nowhere is a warning, and warnings are errors
nitpick_ignore_regex = [("py:.*", r"(sklearn|numpy|scipy|pandas|optuna|matplotlib)\..*")]

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

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
autodoc_typehints = "none"  # the kinds of parameters stand in the docstrings, in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "_generated/gallery",
    # These two are shown and not run: one takes longer, one needs Dask. Tests run them.
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
    """Return the package and its rooms, the front door first."""
    rooms = [
        importlib.import_module(f"leavezero.{room.name}")
        for room in pkgutil.iter_modules(leavezero.__path__)
        if not room.name.startswith("_")
    ]
    return [leavezero, *rooms]


def setup(app):
    """Write the pages that are made from other files, and listen where links are read."""
    _site_pages.write(Path(app.srcdir), public_packages())
    app.connect("source-read", _site_pages.lead_links)
    app.connect("autodoc-process-docstring", escape_shapes, priority=100)  # before numpydoc
    app.connect("autodoc-skip-member", skip_strangers)
    app.connect("missing-reference", find_by_name)


def skip_strangers(app, what, name, thing, skip, options):
    """Leave out members that scikit-learn or Python wrote: they are documented there."""
    function = getattr(thing, "fget", None) or getattr(thing, "__func__", thing)
    home = getattr(function, "__module__", None) or ""
    return True if home and not home.startswith("leavezero") else None


def escape_shapes(app, what, name, thing, options, lines):
    """Keep a fitted attribute in a shape, such as (n_features_in_,), from being read as a link."""
    lines[:] = [re.sub(r"\((\w+)_,", r"(\1\\_,", line) for line in lines]


def find_by_name(app, env, node, content):
    """Lead a short name, or one by another address, to the page of the same public thing."""
    if node.get("refdomain") != "py":
        return None
    target = _site_pages.address_of(node["reftarget"], public_packages())
    if target is None:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)

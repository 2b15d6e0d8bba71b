"""Pages of the site that are made from files elsewhere in the repository, and the links to them."""

import inspect
import os
import re
from pathlib import Path, PurePosixPath

from sphinx.util import logging

MADE = "_generated"
ON_ONE_PAGE = {f"leavezero.{name}" for name in ("engine", "experiments", "report")}
ROOT_PAGES = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")  # a path, up to its anchor
RESULTS = """# Results

Every figure of the documentation stands on one of these pages, which commands make.

```{toctree}
:glob:
:maxdepth: 1

**
```
"""
logger = logging.getLogger(__name__)


def write(source, packages):
    """Copy results and pages of the root into the site's sources, and write a page a package."""
    root, made = source.parent, source / MADE
    for page in [*root.glob("results/**/*.md"), *(root / name for name in ROOT_PAGES)]:
        _put(made / page.relative_to(root), _with_title(page))
    _put(made / "results" / "index.md", RESULTS)
    for package in packages:
        _put(made / "api" / f"{package.__name__}.rst", _package_page(package, packages))


def lead_links(app, docname, content):
    """Let relative links, which are right in the repository, lead to the same file in the site."""
    source, inside = Path(app.srcdir), PurePosixPath(docname)
    if inside.parts[:2] in ((MADE, "api"), (MADE, "gallery")):
        return
    made = inside.is_relative_to(MADE)
    folder = (source.parent / inside.relative_to(MADE) if made else source / inside).parent

    def led(match):
        target = _place_of(PurePosixPath(os.path.relpath(folder / match[1], source.parent)))
        if target is None or not (folder / match[1]).exists():
            logger.warning("the link %s leads to nothing in the site", match[1], location=docname)
            return match[1]
        return os.path.relpath(source / target, (source / inside).parent)

    content[0] = LINK.sub(led, content[0])


def address_of(name, packages):
    """Return where the public thing of that name is documented; None if there is none."""
    _, _, last = name.rpartition(".")
    homes = [package for package in packages if last in package.__all__]
    if not homes:
        return None
    named = next((home for home in homes if name == f"{home.__name__}.{last}"), homes[0])
    return _address(last, named, packages)


def _with_title(page):
    """Return the text of a page; one of several tables gets its own name as a title."""
    text = page.read_text()
    return text if text.startswith("# ") else f"# {page.parent.name}: {page.stem}\n\n{text}"


def _put(path, text):
    """Write a file unless it says so already: what is untouched is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _package_page(package, packages):
    """Return a page with every public name; each is described once, at its shortest address."""
    name = package.__name__
    lines = [name, "=" * len(name), "", f".. module:: {name}", "", inspect.getdoc(package), ""]
    own, elsewhere = [], []
    for public in package.__all__:
        address = _address(public, package, packages)
        is_own = address == f"{name}.{public}"
        (own if is_own else elsewhere).append(public if is_own else f"~{address}")
    together = name in ON_ONE_PAGE
    pages = [] if together else [f"   :toctree: {name}"]
    for names, options in ((own, pages), (elsewhere, [])):
        if names:
            lines += ["", ".. autosummary::", *options, "", *(f"   {one}" for one in names)]
    if together:
        lines += [line for one in own for line in _entry(one, getattr(package, one))]
    return "\n".join([*lines, ""])


def _entry(name, thing):
    """Return the lines that describe a thing on the page of its package."""
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, Exception) else "class"
        return ["", f".. auto{kind}:: {name}", "   :members:", ""]
    return ["", f".. auto{'function' if callable(thing) else 'data'}:: {name}", ""]


def _address(name, package, packages):
    """Return the first address of a public thing, in the order of the packages."""
    thing = getattr(package, name)
    homes = (one for one in packages if name in one.__all__ and getattr(one, name) is thing)
    return f"{next(homes).__name__}.{name}"


def _place_of(path):
    """Return where the site's sources have a file of the repository; None if nowhere."""
    if path.parts[0] == "docs":
        inside = path.relative_to("docs")
        return inside if path.suffix else inside / "index.md"
    if path.parts[0] == "examples":
        return PurePosixPath(MADE, "gallery", f"{path.stem if path.suffix else 'index'}.rst")
    if path.parts[0] == "results":
        return PurePosixPath(MADE, path) if path.suffix == ".md" else PurePosixPath("..", path)
    return PurePosixPath(MADE, path) if str(path) in ROOT_PAGES else None

"""Pages of the site that are generated from other files of the repository, and links to them."""

import inspect
import os
import re
from pathlib import Path, PurePosixPath

from sphinx.util import logging

GENERATED = "_generated"
ROOT_PAGES = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md")
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")  # a path, up to its anchor
RESULTS = """# Results

Numbers of the documentation come from these pages, which are written by experiments and benchmarks.

```{toctree}
:glob:
:maxdepth: 1

**
```
"""
logger = logging.getLogger(__name__)


def write(source, packages):
    """Copy results and root pages into the sources of the site, and write one page per package."""
    root, generated = source.parent, source / GENERATED
    for page in [*root.glob("results/**/*.md"), *(root / name for name in ROOT_PAGES)]:
        _put(generated / page.relative_to(root), _with_title(page))
    _put(generated / "results" / "index.md", RESULTS)
    for package in packages:
        name = package.__name__
        _put(generated / "api" / f"{name}.rst", _package_page(package, packages))
        for page in (generated / "api" / name).glob("*.rst"):
            if page.stem not in {f"{name}.{one}" for one in _described(package)}:
                page.unlink()  # of a former public name


def map_links(app, docname, content):
    """Map relative links of the repository to the same files in the site."""
    source, inside = Path(app.srcdir), PurePosixPath(docname)
    if inside.parts[:2] in ((GENERATED, "api"), (GENERATED, "gallery")):
        return
    generated = inside.is_relative_to(GENERATED)
    page = source.parent / inside.relative_to(GENERATED) if generated else source / inside
    folder = page.parent

    def mapped(match):
        target = _site_path(PurePosixPath(os.path.relpath(folder / match[1], source.parent)))
        if target is None or not (folder / match[1]).exists():
            logger.warning("broken link %s", match[1], location=docname)
            return match[1]
        return os.path.relpath(source / target, (source / inside).parent)

    content[0] = LINK.sub(mapped, content[0])


def address_of(name, packages):
    """Return the import path under which a public name is documented; None if there is none."""
    _, _, last = name.rpartition(".")
    homes = [package for package in packages if last in package.__all__]
    if not homes:
        return None
    named = next((home for home in homes if name == f"{home.__name__}.{last}"), homes[0])
    return _address(last, named, packages)


def _with_title(page):
    """Return the text of a page, with a title if it has none."""
    text = page.read_text()
    return text if text.startswith("# ") else f"# {page.parent.name}: {page.stem}\n\n{text}"


def _put(path, text):
    """Write a file if its content changes; unchanged pages are not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def _package_page(package, packages):
    """Return a page with every public name; each is described once, at its shortest path."""
    name = package.__name__
    lines = [name, "=" * len(name), "", f".. module:: {name}", "", inspect.getdoc(package), ""]
    own, elsewhere = [], []
    for public in _described(package):
        address = _address(public, package, packages)
        is_own = address == f"{name}.{public}"
        (own if is_own else elsewhere).append(public if is_own else f"~{address}")
    for names, options in ((own, [f"   :toctree: {name}"]), (elsewhere, [])):
        if names:
            lines += ["", ".. autosummary::", *options, "", *(f"   {one}" for one in names)]
    return "\n".join([*lines, ""])


def _described(package):
    """Return the public names that have a page."""
    return [name for name in package.__all__ if name != "__version__"]


def _address(name, package, packages):
    """Return the first import path of a public object, in the order of the packages."""
    found = getattr(package, name)
    homes = (one for one in packages if name in one.__all__ and getattr(one, name) is found)
    return f"{next(homes).__name__}.{name}"


def _site_path(path):
    """Return the path of a repository file in the sources of the site; None if it has none."""
    if path.parts[0] == "docs":
        inside = path.relative_to("docs")
        return inside if path.suffix else inside / "index.md"
    if path.parts[0] == "examples":
        return PurePosixPath(GENERATED, "gallery", f"{path.stem if path.suffix else 'index'}.rst")
    if path.parts[0] == "results":
        return PurePosixPath(GENERATED, path) if path.suffix == ".md" else PurePosixPath("..", path)
    return PurePosixPath(GENERATED, path) if str(path) in ROOT_PAGES else None

"""The picture of a report that stands in the README.

    uv run --group browser python benchmarks/report_screenshot.py    # docs/images/report.png

It needs Chromium. The report is what `leavezero select` writes for scikit-learn's breast cancer
data with a few quick models; the picture is its first screen, 1200 pixels wide, in light colors.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer

from leavezero.cli._prepare_table import TableOptions
from leavezero.cli._select_command import run_select

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTH, HEIGHT = 1200, 800
MODELS = ("linear", "svm", "knn", "bayes", "tree")


def main() -> None:
    """Choose a model, write the report, and keep a picture of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images/report.png"))
    out = parser.parse_args().out
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        picture_of(report_in(Path(folder)), out)
    print(f"{out}: {out.stat().st_size / 1024:.0f} KiB")


def report_in(folder: Path) -> Path:
    """Write a table and a report on it, and return where the report is."""
    data = load_breast_cancer(as_frame=True)
    names = data.target.map(dict(enumerate(data.target_names)))
    table = folder / "tumors.csv"
    data.data.assign(diagnosis=names).to_csv(table, index=False)
    out = folder / "selected"
    run_select(TableOptions(table, "diagnosis", models=MODELS, out=out, quiet=True))
    return folder / "selected" / "report.html"


def picture_of(page: Path, out: Path) -> None:
    """Save the first screen of a page."""
    chromium = next((path for path in map(shutil.which, NAMES) if path), None)
    if chromium is None:
        raise SystemExit(f"None of {', '.join(NAMES)} is installed.")
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        size = {"width": WIDTH, "height": HEIGHT}
        opened = browser.new_page(viewport=size, color_scheme="light")
        opened.goto(page.as_uri())
        opened.screenshot(path=out)
        browser.close()


if __name__ == "__main__":
    main()

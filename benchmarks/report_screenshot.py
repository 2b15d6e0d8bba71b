"""Screenshot of a report for the documentation.

    uv run --group browser python benchmarks/report_screenshot.py    # docs/images/report.png

It needs Chromium. The report is what `leavezero select` writes for scikit-learn's breast cancer
data with a few fast models; the image is its first screen, 1200 pixels wide, in light colors.
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
WIDTH, HEIGHT = 1200, 788
MODELS = ("linear", "svm", "knn", "bayes", "tree")


def main() -> None:
    """Select a model, write the report, and save the image."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images/report.png"))
    out = parser.parse_args().out
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        save_screenshot(write_report(Path(folder)), out)
    print(f"{out}: {out.stat().st_size / 1024:.0f} KiB")


def write_report(folder: Path) -> Path:
    """Write a table, select a model for it, and return the path of the report."""
    data = load_breast_cancer(as_frame=True)
    names = data.target.map(dict(enumerate(data.target_names)))
    table = folder / "tumors.csv"
    data.data.assign(diagnosis=names).to_csv(table, index=False)
    out = folder / "selected"
    run_select(TableOptions(table, "diagnosis", models=MODELS, out=out, quiet=True))
    return folder / "selected" / "report.html"


def save_screenshot(page: Path, out: Path) -> None:
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

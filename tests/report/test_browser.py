"""The HTML page in Chromium, if installed; LEAVEZERO_SCREENSHOTS is a folder for screenshots."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import CandidateSearchLZO

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the package playwright is not installed"
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next((path for path in map(shutil.which, NAMES) if path), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"none of {', '.join(NAMES)} is installed")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Return the address of a report with markup in all names."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.tile(["<b onclick=alert(1)>🙂</b>", "=cmd()"], 40)
    X = rng.normal(size=(80, 3)) + (y == "=cmd()")[:, None]
    X = pd.DataFrame(X, columns=["<script>alert(1)</script>", "'\"", "c"])
    grid = {"svc__C": [0.1, 1, 10], "svc__kernel": ["rbf", "linear"]}
    candidates = {
        "<i>svm</i>": (make_pipeline(StandardScaler(), SVC()), grid),
        "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}),
        "baseline": DummyClassifier(strategy="prior"),
    }
    search = CandidateSearchLZO(candidates, n_replicates=2, random_state=0)
    path = tmp_path_factory.mktemp("report") / "report.html"
    search.fit(X, y).to_html(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as tools:
        chromium = tools.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, address):
    """Return a function that opens the report and collects messages and requests in ``events``."""
    contexts = []

    def open_report(width=1200, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.events = []
        page.on("console", lambda message: page.events.append(message.text))
        page.on("pageerror", lambda error: page.events.append(str(error)))
        page.on("dialog", lambda dialog: page.events.append(dialog.message))
        page.on("request", lambda request: page.events.append(request.url))
        page.goto(address)
        return page

    yield open_report
    for context in contexts:
        context.close()


def table_of(page, name="svm"):
    return page.locator("details", has_text=name).locator("table.candidates")


def column(page, at, name="svm"):
    rows = table_of(page, name).locator("tbody tr:not([hidden])")
    return rows.locator(f"td:nth-child({at})").all_inner_texts()


OVERLAPS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const texts = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim());
    const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
    boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
      const width = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const height = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (width > 1 && height > 3) found.push([svg.getAttribute("aria-label"), a, b]);
    }));
  }
  return found;
}"""


def contrast(page, selector):
    """Return the contrast of a text with the page (WCAG 2.2: at least 4.5)."""
    colors = page.evaluate(
        "s => [getComputedStyle(document.querySelector(s)).color,"
        " getComputedStyle(document.body).backgroundColor]",
        selector,
    )
    bright, dark = sorted((luminance(color) for color in colors), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def luminance(color):
    parts = np.array([int(part) for part in re.findall(r"\d+", color)[:3]]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def save_screenshot(page, name):
    folder = os.environ.get("LEAVEZERO_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_opens_from_disk_and_fits(open_page, address, scheme, width):
    """No message, no request but for the file, no horizontal scrolling, sufficient contrast."""
    page = open_page(width, color_scheme=scheme, offline=True)
    assert page.events == [address]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sizes = page.evaluate("[...document.querySelectorAll('svg')].map(s => s.clientWidth)")
    assert min(sizes) > 300  # at the size for which the text of figures is set
    assert (luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.5) == (
        scheme == "light"
    )
    for selector in ("h1", ".soft", "nav a", ".headline", "figcaption"):
        assert contrast(page, selector) >= 4.5
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    save_screenshot(page, f"report-{scheme}-{width}")


def test_markup_in_names_is_text(open_page, address):
    page = open_page()
    assert page.get_by_text("<script>alert(1)</script>").count() >= 1
    assert page.get_by_text("<b onclick=alert(1)>🙂</b>").count() >= 1
    assert page.locator("[onclick]").count() == 0
    assert page.locator("script").count() == 2
    assert page.events == [address]


def test_tables_are_sorted_by_mouse_and_keyboard(open_page):
    """Ascending first, then descending."""
    page = open_page()
    head = table_of(page).locator("thead th").nth(1)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, 2) == ["0.1", "0.1", "1", "1", "10", "10"]
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, 2) == ["10", "10", "1", "1", "0.1", "0.1"]
    table_of(page).locator("thead th").nth(2).locator("button").click()
    assert head.get_attribute("aria-sort") == "none"
    assert column(page, 3) == sorted(column(page, 3))


def test_filter_keeps_rows_that_match_all_terms_and_opens_their_tables(open_page):
    page = open_page()
    assert page.locator("#shown").inner_text() == "10 of 10 shown"
    field = page.get_by_label("Filter")
    field.fill("kernel=linear c=10")
    assert column(page, 3) == ["linear"]
    assert page.locator("#shown").inner_text() == "1 of 10 shown"
    field.fill("n_neighbors=5")
    assert column(page, 2, "knn") == ["5"]
    assert table_of(page, "knn").is_visible()
    assert not table_of(page).is_visible()
    field.fill("")
    assert len(column(page, 3)) == 6


def test_details_are_opened_by_the_keyboard(open_page):
    page = open_page()
    summary = page.get_by_text("Other checks", exact=True)
    checks = page.locator(".checks")
    assert not checks.is_visible()
    summary.focus()
    page.keyboard.press("Enter")
    assert checks.is_visible()


def test_page_is_complete_without_scripts(open_page):
    """Only the filter is hidden."""
    page = open_page(java_script_enabled=False)
    assert len(column(page, 1)) == 6
    assert not page.locator("#filtering").is_visible()
    assert page.locator("svg").first.is_visible()


def test_print_is_dark_on_white_and_complete(open_page):
    page = open_page(718, color_scheme="dark")  # pixels between the margins of A4
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".checks").is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.tall')).maxHeight") == "none"
    assert page.evaluate("document.documentElement.scrollWidth") <= 718


def test_the_page_of_a_served_model_predicts(browser, tmp_path):
    """In a real process, with a form and a file."""
    pytest.importorskip("flask", reason="flask is not installed")
    pd = pytest.importorskip("pandas")
    x = np.random.default_rng(0).normal(size=60)
    frame = pd.DataFrame({"x": x, "y": np.where(x > 0, "up", "down")})
    frame.to_csv(tmp_path / "a.csv", index=False)
    run = [sys.executable, "-c", "from leavezero.cli import main; main()"]
    select = ["select", "a.csv", "--target", "y", "--models", "tree", "--jobs", "1", "--out", "o"]
    subprocess.run([*run, *select], cwd=tmp_path, check=True, capture_output=True)
    serve = [*run, "serve", "o/model.skops", "--port", "0"]
    with subprocess.Popen(serve, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = re.search(r"http://\S+", process.stderr.readline())[0]
            page = browser.new_page()
            errors = []
            page.on("console", lambda message: errors.append(message.text))
            page.goto(address)
            page.get_by_label("x").fill("2")
            page.get_by_role("button", name="Predict", exact=True).click()
            assert "up" in page.locator("output").inner_text()
            save_screenshot(page, "serve")
            page.get_by_label("CSV file").set_input_files(tmp_path / "a.csv")
            with page.expect_download() as download:
                page.get_by_role("button", name="Download").click()
            found = pd.read_csv(download.value.path())
            assert (found["prediction"] == found["y"]).mean() > 0.9
            assert errors == []
            page.close()
        finally:
            process.terminate()

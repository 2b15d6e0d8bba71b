"""The HTML page in Chromium, if installed; LEAVEZERO_SCREENSHOTS is a folder for screenshots."""

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import GridSearchLZO

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
    model = make_pipeline(StandardScaler(), SVC())
    search = GridSearchLZO(model, grid, n_replicates=2, return_train_score=True, random_state=0)
    path = tmp_path_factory.mktemp("report") / "report.html"
    search.fit(X, y).to_html(path, with_rows=True)
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


def column(page, at):
    rows = page.locator("#candidates tbody tr:not([hidden])")
    return rows.locator(f"td:nth-child({at})").all_inner_texts()


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
    for selector in ("h1", ".soft", "nav a", ".card .what", "figcaption"):
        assert contrast(page, selector) >= 4.5
    save_screenshot(page, f"report-{scheme}-{width}")


def test_markup_in_names_is_text(open_page, address):
    page = open_page()
    assert page.get_by_text("<script>alert(1)</script>").count() >= 1
    assert page.get_by_text("<b onclick=alert(1)>🙂</b>").count() >= 1
    assert page.locator("[onclick]").count() == 0
    assert page.locator("script").count() == 2
    assert page.events == [address]


def test_table_is_sorted_by_mouse_and_keyboard(open_page):
    """Ascending first, then descending."""
    page = open_page()
    head = page.locator("#candidates thead th").nth(1)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, 2) == ["0.1", "0.1", "1", "1", "10", "10"]
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, 2) == ["10", "10", "1", "1", "0.1", "0.1"]
    page.locator("#candidates thead th").nth(2).locator("button").click()
    assert head.get_attribute("aria-sort") == "none"
    assert column(page, 3) == sorted(column(page, 3))


def test_filter_keeps_rows_that_match_all_terms(open_page):
    page = open_page()
    assert page.locator("#shown").inner_text() == "6 of 6 shown"
    page.get_by_label("Filter").fill("kernel=linear c=10")
    assert column(page, 3) == ["linear"]
    assert page.locator("#shown").inner_text() == "1 of 6 shown"
    page.get_by_label("Filter").fill("")
    assert len(column(page, 3)) == 6


def test_page_is_complete_without_scripts(open_page):
    """Only the filter is hidden."""
    page = open_page(java_script_enabled=False)
    assert len(column(page, 1)) == 6
    assert not page.locator("#filtering").is_visible()
    assert page.locator("svg").first.is_visible()


def test_print_is_dark_on_white_and_complete(open_page):
    page = open_page(color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.tall')).maxHeight") == "none"

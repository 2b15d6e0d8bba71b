"""The short table of README: regret, fits and time of each way of choosing, from other results.

uv run python benchmarks/summary.py    # results/summary.md, README and docs/speed.md
"""

import re
import statistics
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
PAGES = (ROOT / "README.md", ROOT / "docs" / "speed.md")
WAYS = {  # as it is called here, in regret/unseen.md, in regret/confirm.md and in speed.md
    "leavezero, where fits are dear": ("auto and unseen", "auto", None),
    "leavezero, where fits are cheap": ("mixture and copula and unseen", None, None),
    "5-fold CV": ("5-fold CV", "5-fold CV", "5 folds"),
    "10-fold CV": ("10-fold CV", "10-fold CV", "10 folds"),
}
HEAD = [
    "way of choosing",
    "regret, six families",
    "regret, pool of nine",
    "fits a candidate, pool",
    "CPU time",
]


def summary():
    """Return the page."""
    regret, short = tables(RESULTS / "regret" / "unseen.md")[:2]
    fits = tables(RESULTS / "regret" / "confirm.md")[1]
    speed = tables(RESULTS / "speed" / "speed.md")[0]
    rows = [line(HEAD), "|---" * len(HEAD) + "|"]
    for name, (way, fitted, timed) in WAYS.items():
        cells = [find(short, way)["six families"], find(regret, way)["pool"]]
        cells.append(find(fits, fitted)["fits a candidate, pool"] if fitted else "1.00")
        cells.append(spread(column(speed, timed)) if timed else "1.0")
        rows.append(line([name, *cells]))
    sizes = sorted({int(row["n"]) for row in speed})
    note = (
        "Regret in points of accuracy on ten held-back data sets; the six families have unseen "
        "rows. Fits of teachers, of reference models, and the final fit of cross validation are "
        "counted. CPU time as a multiple of GridSearchLZO's, the median of "
        f"{len(speed)} searches with {' and '.join(map(str, sizes))} rows, least and most in "
        "brackets."
    )
    return "\n\n".join(["# Regret, fits and time in short", "\n".join(rows), note]) + "\n"


def tables(page):
    """Return every table of a page, as a list of rows by the names of columns."""
    found = re.findall(r"(?:^\|.*\n)+", page.read_text(), flags=re.MULTILINE)
    return [read(table.splitlines()) for table in found]


def read(lines):
    head, _, *body = ([cell.strip() for cell in one.strip("|").split("|")] for one in lines)
    return [dict(zip(head, cells, strict=True)) for cells in body]


def find(table, way):
    return next(row for row in table if row["way"] == way)


def column(table, name):
    return [float(row[name].split()[0]) for row in table if row[name] != "-"]


def spread(values):
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def line(cells):
    return "| " + " | ".join(cells) + " |"


def fill(page, text):
    """Put the table between the two marks in a page of the documentation."""
    table = "".join(re.findall(r"^\|.*\n", text, flags=re.MULTILINE))
    marked = re.compile(r"(?<=<!-- summary -->\n).*?(?=<!-- end -->)", flags=re.DOTALL)
    page.write_text(marked.sub(lambda _: table, page.read_text()))


if __name__ == "__main__":
    text = summary()
    (RESULTS / "summary.md").write_text(text)
    for page in PAGES:
        fill(page, text)
    print(text)

"""Write measured tables into README and the pages of the documentation.

    uv run python docs/_measured.py        # after results/ has changed

A table stands between the lines ``<!-- measured: NAME -->`` and ``<!-- end -->``. A test compares
the pages with what this module would write.
"""

import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STUDIES = {  # label in the documentation: file under results/regret, metric
    "accuracy, 100 rows": ("reporting-100", "accuracy"),
    "accuracy, 300 rows": ("reporting-300", "accuracy"),
    "accuracy, 1,000 rows": ("reporting-1000", "accuracy"),
    "accuracy, 3,000 rows": ("reporting-3000", "accuracy"),
    "R2 times 100, 300 rows": ("regression-reporting-300", "r2"),
    "R2 times 100, 1,000 rows": ("regression-reporting-1000", "r2"),
    "log loss times 100, 300 rows": ("probabilities-reporting-300", "neg_log_loss"),
    "AUC times 100, 300 rows": ("probabilities-reporting-300", "roc_auc"),
}
MAIN_STUDIES = ("accuracy, 300 rows", "accuracy, 1,000 rows", "R2 times 100, 300 rows")
METHODS = ("default", "5-fold CV", "10-fold CV")
MEANS = ("mean", "mean without MLP")
LOO_ELSE_FOLDS = "LOO, else 5-fold CV"
RULES = ("default", "LOO, else folds with as many fits", "no folds", "5-fold CV")
MARKED = re.compile(r"(<!-- measured: (\S+) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def read_table(file, heading=""):
    """Return the first table under a heading of a results file: rows by first cell, then column.

    None if there is no such heading.
    """
    text = (ROOT / "results" / file).read_text()
    found = re.search(rf"^#+ .*{re.escape(heading)}.*$", text, re.MULTILINE)
    if found is None:
        return None
    text = text[found.end() :]
    lines = re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)[0].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


def markdown(head, rows):
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(cells)} |\n" for cells in (head, *rows)]
    return "".join([lines[0], "|---" * len(head), "|\n", *lines[1:]])


def study(name, metric="accuracy"):
    """Return the tables of a regret study: regret, differences to CV, bias and cost."""
    parts = ("regret in points", "regret of the default", "score minus test", "cost of a search")
    return [read_table(f"regret/{name}.md", f"{metric}: {part}") for part in parts]


def n_sets(name, metric="accuracy"):
    """Return the number of data sets of a regret study."""
    text = (ROOT / "results" / "regret" / f"{name}.md").read_text().partition(f"{metric}:")[2]
    return re.search(r"^(\d+) data sets", text, re.MULTILINE)[1]


def cpu_seconds(cost):
    """Return the mean over model types and pool, for the default and for cross-validation."""
    columns = ("CPU seconds", *METHODS[1:])
    totals = [sum(float(row[column]) for row in cost.values()) for column in columns]
    return [f"{total / len(cost):.2f}" for total in totals]


def fits_per_candidate(cost):
    """Return the mean over model types and pool; K-fold CV makes K fits, and one for the search."""
    sizes = [float(row["candidates"]) for row in cost.values()]
    default = sum(float(row["fits per candidate"]) for row in cost.values()) / len(cost)
    folds = [n + sum(1 / size for size in sizes) / len(sizes) for n in (5, 10)]
    return [f"{mean:.1f}" for mean in (default, *folds)]


def summary(name):
    """Return regret with interval, bias, fits and time of the default and of cross-validation."""
    regret, minus, bias, cost = study(name)
    labels = ("difference to CV (90 % interval)", "difference to CV without neural networks")
    return [
        ["accuracy lost by selection (regret), points", *(regret["mean"][one] for one in METHODS)],
        *(
            [label, "", *(minus[mean][f"minus {one}"] for one in METHODS[1:])]
            for label, mean in zip(labels, MEANS, strict=True)
        ),
        ["`best_score_` minus test accuracy, points", *(bias["mean"][one] for one in METHODS)],
        ["fits per candidate", *fits_per_candidate(cost)],
        ["CPU seconds per search", *cpu_seconds(cost)],
    ]


def readme_why():
    """Return the sentence of README that sums up its table."""
    default, *folds = map(float, cpu_seconds(study("reporting-300")[3]))
    shares = " and ".join(f"{default / one:.0%}".replace("%", " %") for one in folds)
    text = (
        "On average it selects about as well as 5-fold and 10-fold cross-validation, in "
        f"{shares} of their CPU time, and its `best_score_` is less optimistic:"
    )
    return textwrap.fill(text, 120, break_on_hyphens=False) + "\n"


def readme():
    """Return the table of README."""
    name = "reporting-300"
    title = f"{n_sets(name)} classification data sets, at most 300 rows each"
    return markdown([title, "GridSearchLZO", *METHODS[1:]], summary(name))


def across_studies(head, cells, names=MAIN_STUDIES):
    """Return a table with one row per study; ``cells`` takes the tables of a study."""
    rows = [[name, *cells(*study(*STUDIES[name]))] for name in names]
    return markdown(["study", *head], rows)


def regret():
    """Return the regret of the default and of cross-validation in all studies."""
    rows = []
    for name, where in STUDIES.items():
        means, differences, *_ = study(*where)
        minus = [differences["mean"][f"minus {one}"] for one in METHODS[1:]]
        rows.append([name, n_sets(*where), *(means["mean"][one] for one in METHODS), *minus])
    head = ["study", "data sets", *METHODS, *(f"default minus {one}" for one in METHODS[1:])]
    return markdown(head, rows)


def sign(cell):
    """Return 1 or -1 if the interval of a difference is above or below zero, else 0."""
    low, high = map(float, re.search(r"\((\S+) to (\S+)\)", cell).groups())
    return (low > 0) - (high < 0)


def clear_differences():
    """Return the model types with an interval of the difference to CV that excludes zero."""
    kinds = {
        f"{word} than {fold}": (wanted, f"minus {fold}")
        for word, wanted in (("worse", 1), ("better", -1))
        for fold in METHODS[1:]
    }

    def cells(_, differences, *__):
        found = {name: row for name, row in differences.items() if name not in MEANS}
        return [
            ", ".join(
                f"{name} {row[column].split()[0]}"
                for name, row in found.items()
                if sign(row[column]) == wanted
            )
            for wanted, column in kinds.values()
        ]

    return across_studies(kinds, cells, STUDIES)


def equal_cost():
    """Return the regret of rules that make different fits on folds, on the tuning sets."""
    tried = read_table("rules/tried.md")
    parts = [part for part in tried["default"] if part != "rule"]
    labels = {"tuning": "accuracy", "regression-tuning": "R2 times 100"}
    head = [f"{labels[name]}, {size} rows" for name, size in (p.rsplit("-", 1) for p in parts)]
    rows = [[rule, *(tried.get(rule, {}).get(part, "-") for part in parts)] for rule in RULES]
    return markdown(["rule", *head], rows)


def bias():
    """Return the mean of best_score_ minus test score, and the coverage of the interval."""
    rows = [
        [name, *(study(*STUDIES[name])[2]["mean"][one] for one in METHODS), coverage_of(name)]
        for name in MAIN_STUDIES
    ]
    return markdown(["study", *METHODS, "coverage of the default"], rows)


def coverage_of(label):
    """Return how often the default's interval for new rows contains the test score."""
    name, metric = STUDIES[label]
    found = read_table(f"regret/{name}.md", f"{metric}: 95 % intervals for new rows")
    return found["mean"]["intervals that contain the test score"] if found else "-"


def other_folds():
    """Return by how much 10-fold CV differs from itself if the rows are shuffled again."""
    rows = []
    for label in MAIN_STUDIES:
        name, metric = STUDIES[label]
        heading = f"{metric}: regret of 10-fold CV with other folds"
        table = read_table(f"regret/{name}.md", heading)
        if table is not None:
            default = read_table(f"regret/{name}.md", f"{metric}: regret of the default minus")
            rows += [
                [f"{method}, {label}", *differences_by_type(found)]
                for method, found in (("default", default), ("other folds", table))
            ]
    head = ["minus 10-fold CV", "mean", "largest of a model type", "largest of one search"]
    return markdown(head, rows)


def differences_by_type(table):
    """Return the mean difference to 10-fold CV and the largest ones, each with its place."""
    types = {name: row for name, row in table.items() if name not in MEANS}
    means = {name: float(row["minus 10-fold CV"].split()[0]) for name, row in types.items()}
    losses = {name: float(row["largest loss"].split()[-1]) for name, row in types.items()}
    largest = (max(found.items(), key=lambda pair: pair[1]) for found in (means, losses))
    return [
        table["mean"]["minus 10-fold CV"],
        *(f"{value:+.2f} ({name})" for name, value in largest),
    ]


def ablation():
    """Return the regret of the parts of the default, with and without neural networks."""
    methods = ("default", LOO_ELSE_FOLDS, "validation score", "mix-up")

    def cells(regret, *_):
        pairs = ([regret[mean].get(one) for mean in MEANS] for one in methods)
        return [f"{first} ({second})" if first else "-" for first, second in pairs]

    return across_studies(methods, cells)


def cost():
    """Return mean CPU seconds of a search."""
    return across_studies(METHODS, lambda *tables: cpu_seconds(tables[3]))


def time():
    """Return the searches that take long, and those for which successive halving is faster."""
    columns = ["GridSearchLZO", "5-fold CV", "10-fold CV"]
    rows = read_table("speed/speed.md", "current").items()
    table = markdown(
        ["search", *columns], [[key, *(row[one] for one in columns)] for key, row in rows]
    )
    faster = [key for key, row in rows if float(row["halving, 5 folds"]) < float(row[columns[0]])]
    text = f"Successive halving is faster for {' and '.join(faster) or 'none of these'}."
    return f"{table}\n{textwrap.fill(text, 120)}\n"


def user_case_counts():
    """Return the counts below the table of searches as users write them."""
    text = (ROOT / "results" / "user_cases" / "user_cases.md").read_text()
    counts = re.search(r"^Without the noise: .*?(?= \(\*\))", text, re.MULTILINE | re.DOTALL)[0]
    return " ".join(counts.split())


def user_cases():
    """Return the counts as a paragraph."""
    return textwrap.fill(user_case_counts(), 120) + "\n"


def covered():
    """Return how often the interval for new rows contained the test score."""
    counts = user_case_counts()
    n_searches, n_covered = (
        int(re.search(pattern, counts)[1]) for pattern in (r"of (\d+) searches", r"in (\d+)\.$")
    )
    text = (
        "It contained the test score, which varies too, in "
        f"{coverage_of(MAIN_STUDIES[0])} of the searches of the [study of regret]"
        f"(results.md#can-the-score-be-believed) by accuracy with 300 rows, and in {n_covered} of "
        f"{n_searches} [others](results.md#searches-as-users-write-them) "
        f"({n_covered / n_searches:.0%}): read it as a lower limit of the uncertainty."
    )
    return textwrap.fill(text, 120, break_on_hyphens=False) + "\n"


TABLES = {
    "readme": readme,
    "readme-why": readme_why,
    "regret": regret,
    "clear-differences": clear_differences,
    "equal-cost": equal_cost,
    "bias": bias,
    "other-folds": other_folds,
    "ablation": ablation,
    "cost": cost,
    "user-cases": user_cases,
    "covered": covered,
    "time": time,
}


def filled(text):
    """Return a page with its tables as they are in the results."""
    return MARKED.sub(lambda found: found[1] + TABLES[found[2]](), text)


def pages():
    """Return README and the pages that contain measured tables."""
    every = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in every if MARKED.search(page.read_text())]


if __name__ == "__main__":
    for page in pages():
        page.write_text(filled(page.read_text()))

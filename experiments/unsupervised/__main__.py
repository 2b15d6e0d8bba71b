"""Run the designs of a study that are not finished, and write its page."""

import argparse
import json
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from experiments.markdown import page
from experiments.unsupervised.studies import STUDIES

RESULTS = Path(__file__).parents[2] / "results" / "unsupervised"


def main() -> None:
    """Read the options, run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--design", default="", help="only designs with this text in their name")
    parser.add_argument("--draws", type=int, help="simulated data sets per design")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    study, path = STUDIES[options.study], options.out / f"{options.study}.json"
    n_draws = options.draws or study.n_draws
    options.out.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text()) if path.exists() else {}
    found = known.get("designs", {}) if known.get("n_draws") == n_draws else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".* is greater than the total number of samples")
        for design in study.designs:
            if design not in found and options.design in design:
                found[design] = study.run(design, n_draws)
                content = {"n_draws": n_draws, "designs": found}
                path.write_text(json.dumps(content) + "\n", encoding="utf-8")
    finished = {design: found[design] for design in study.designs if design in found}
    text = page(study.report(finished, n_draws))
    (options.out / f"{options.study}.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

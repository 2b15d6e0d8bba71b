"""Resumable runs, plans and the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from joblib import parallel_config

from experiments.__main__ import EXPERIMENTS, main
from experiments.runner import Options, make_plan, read_lines, run_all, time_left

ROOT = Path(__file__).parents[2]
PROTOCOL = {"study": "squares"}
KEYS = [{"data": "toy", "n": n} for n in range(6)]


def square(key):
    return {"square": key["n"] ** 2, "wall_seconds": 1.0}


def run(path, keys=KEYS, work=square, **changes):
    return list(run_all(keys, work, path, **({"protocol": PROTOCOL} | changes)))


def squares(path):
    return [line["result"]["square"] for line in read_lines(path)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_run_is_one_line(tmp_path, n_jobs):
    path = tmp_path / "new" / "runs.jsonl"
    with parallel_config(backend="threading"):
        run(path, n_jobs=n_jobs)
    assert squares(path) == [0, 1, 4, 9, 16, 25]


def test_finished_runs_are_kept(tmp_path):
    path = tmp_path / "runs.jsonl"
    run(path, KEYS[:4])
    done = []
    run(path, KEYS, lambda key: done.append(key["n"]) or square(key))
    assert done == [4, 5]


def test_incomplete_line_is_dropped_with_a_warning(tmp_path):
    path = tmp_path / "runs.jsonl"
    run(path, KEYS[:3])
    complete = path.read_text()
    path.write_text(complete[:-9])
    with pytest.warns(UserWarning, match="incomplete last line of .* was dropped"):
        run(path, KEYS[:3])
    assert path.read_text() == complete


def test_file_with_another_protocol_is_an_error(tmp_path):
    path = tmp_path / "runs.jsonl"
    run(path)
    with pytest.raises(ValueError, match="study: 'squares' in the file, 'cubes' requested"):
        run(path, protocol={"study": "cubes"})
    path.write_text("name,age\n")
    with pytest.raises(ValueError, match="its first line is not a protocol"):
        run(path)
    assert path.read_text() == "name,age\n"


def test_killed_process_loses_only_the_runs_in_progress(tmp_path):
    path = tmp_path / "runs.jsonl"
    script = tmp_path / "work.py"
    script.write_text(
        "import time\n"
        "from experiments.runner import run_all\n"
        "def work(key):\n"
        "    time.sleep(0.1)\n"
        "    return {'square': key['n'] ** 2}\n"
        f"for _ in run_all({KEYS!r}, work, {str(path)!r}, protocol={PROTOCOL!r}):\n"
        "    pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, str(script)], env=environment)
    while not path.exists() or path.read_text().count("\n") < 3:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = [json.loads(text) for text in path.read_text().splitlines()[1:]]
    assert 0 < len(finished) < 6
    run(path)
    assert squares(path) == [0, 1, 4, 9, 16, 25]


def test_time_left_is_that_of_runs_on_the_same_data():
    keys = [{"data": name, "split": split} for split in (0, 1) for name in ("a", "b")]
    keys.append({"data": "c", "split": 0})
    lines = [
        {"key": keys[0], "result": {"wall_seconds": 3.0}},
        {"key": keys[1], "result": {"wall_seconds": 5.0}},
    ]
    assert time_left(keys, lines) == 3 + 5 + 4
    assert time_left(keys, lines, n_workers=2) == 6
    assert time_left(keys, []) is None


def test_plan_names_missing_data_sets():
    plan = make_plan(EXPERIMENTS["table3"], Options(data=("iris", "dim"), repeats=1))
    assert list(plan.studies) == ["scaled", "unscaled", "as-published"]
    assert list(plan.missing) == ["dim"]
    assert plan.studies["scaled"].data == ("iris",)


def test_plan_checks_names_and_shapes(tmp_path):
    table3 = EXPERIMENTS["table3"]
    with pytest.raises(LookupError, match=r"table3 has no data set 'moon'. Known are"):
        make_plan(table3, Options(data=("moon",)))
    with pytest.raises(LookupError, match="No data set of table3 is available"):
        make_plan(table3, Options(data=("dim",)))
    pd.DataFrame({"a": [1.0], "target": [0]}).to_csv(tmp_path / "iris.csv.gz", index=False)
    with pytest.raises(ValueError, match=r"'iris' from .* has .* expected"):
        make_plan(table3, Options(data=("iris",), folder=str(tmp_path)))


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_quick_and_full_runs_share_the_protocol(name):
    experiment = EXPERIMENTS[name]
    for part, data in experiment.quick_data.items():
        quick = experiment.study(part, data, Options(quick=True))
        full = experiment.study(part, experiment.data[part], Options())
        assert quick.protocol() == full.protocol()
        assert len(quick.keys()) < len(full.keys())


def test_command_runs_resumes_and_reports(tmp_path, capsys):
    arguments = ["table3", "--quick", "--set", "iris", "--part", "scaled", "--repeats", "1"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    page = (tmp_path / "table3-quick" / "tables.md").read_text()
    assert "| iris |" in page
    assert page in capsys.readouterr().out
    assert main([*arguments, "--out", str(tmp_path), "--report"]) == 0
    assert (tmp_path / "table3-quick" / "tables.md").read_text() == page
    assert len(read_lines(tmp_path / "table3-quick" / "scaled.jsonl")) == 1


def test_command_reports_errors_and_lists(tmp_path, capsys):
    assert main(["table3", "--set", "moon"]) == 1
    assert "has no data set 'moon'" in capsys.readouterr().err
    assert main(["table5", "--report", "--out", str(tmp_path)]) == 1
    assert "has no finished run" in capsys.readouterr().err
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in (*EXPERIMENTS, "simulated_moons", "no public copy"))


def test_stored_pages_are_those_of_the_stored_lines(tmp_path):
    """Results that were measured are in the pages as the code of today writes them."""
    for name in ("table5",):
        experiment = EXPERIMENTS[name]
        folder = ROOT / "results" / (experiment.folder or name)
        lines = {part: read_lines(folder / f"{part}.jsonl") for part in experiment.data}
        for page, tables in experiment.report(lines, {}, tmp_path).items():
            stored = (folder / f"{page}.md").read_text()
            assert [t.title for t in tables if t.text() not in stored] == []

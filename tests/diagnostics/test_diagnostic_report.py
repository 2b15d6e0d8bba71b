"""The report as text, HTML, dict and data frame."""

import pytest

from leavezero.diagnostics import Check, DiagnosticReport
from leavezero.diagnostics._diagnostic_report import TITLES

LEAKAGE = Check("LZ03", "warning", "Rows <b>leak</b>.", 0.1, "Use another augmenter.")
STABILITY = Check("LZ05", "warning", "A tie.", 0.2, "Cross-validate.")
LABELS = Check("LZ01", "ok", "Same labels.", 0.0)
REPORT = DiagnosticReport((LABELS, LEAKAGE, STABILITY), 1.25, 1)


def test_text_leaves_out_details_unless_they_warn():
    lines = str(REPORT).splitlines()
    assert [line.split()[1] for line in lines[:2]] == ["LZ03", "LZ05"]
    assert lines[-2] == "Next step: Use another augmenter."
    assert lines[-1].startswith("1 check is in summary(details=True).")
    assert lines[-1].endswith("The checks took 1.2 s and 1 fit.")
    assert "LZ01" in REPORT.summary(details=True)
    labels = Check("LZ01", "warning", "Other labels.", 0.5, "Use another augmenter.")
    assert "LZ01" in str(DiagnosticReport((labels,), 0.0))
    assert repr(REPORT) == "DiagnosticReport(3 checks: 2 warnings, 0 notes)"


def test_html_is_escaped_and_collapses_details():
    html = REPORT.to_html()
    assert "&lt;b&gt;leak" in html
    assert "<b>" not in html
    assert html.index("LZ03") < html.index("<details>") < html.index("LZ01")
    assert REPORT._repr_html_() == html


def test_dict_and_frame_have_all_checks():
    checks = REPORT.to_dict()["checks"]
    assert [check["is_detail"] for check in checks] == [True, False, False]
    assert checks[1]["title"] == "leakage"
    assert REPORT.to_frame().loc["LZ03", "level"] == "warning"


def test_next_step_is_the_advice_with_the_lowest_cost():
    assert REPORT.next_step == "Use another augmenter."
    assert DiagnosticReport((LABELS,), 0.0).next_step is None


@pytest.mark.parametrize("code", [code for code in TITLES if code not in ("LZ07", "LZ12")])
def test_every_check_that_can_warn_has_a_next_step(code):
    report = DiagnosticReport((Check(code, "warning", "A message.", 1.0, "An advice."),), 0.0)
    assert report.next_step == "An advice."


def test_unknown_code_is_an_error():
    with pytest.raises(KeyError, match="'LZ99' is not in this report, which has LZ01, LZ03, LZ05"):
        REPORT["LZ99"]

"""Names from outside, made fit for a terminal, a page and a spreadsheet."""

import csv
import io
import traceback
import unicodedata

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import schedlab as sl
from schedlab._runtime.text import cell, check_known, plain, suggestion

anything = st.text(st.characters(exclude_categories=[]))  # also lone surrogates, as in a file name that is not UTF-8


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("CTC-SP2-1996", "CTC-SP2-1996"),
        ("Umeå 北京, EASY-<lambda> a < b", "Umeå 北京, EASY-<lambda> a < b"),
        ("red \x1b[31m, \x9b31m", r"red \x1b[31m, \x9b31m"),
        ("over\rwritten\nnext\b\x7f", r"over\rwritten\nnext\x08\x7f"),
        ("tab\tbed", r"tab\tbed"),
        ("turned \u202egnp.exe, \u2066 \u200f", r"turned \u202egnp.exe, \u2066 \u200f"),
        ("lines \u2028 \u2029 \x85", r"lines \u2028 \u2029 \x85"),
        ("no UTF-8: \udce9", r"no UTF-8: \udce9"),
        ("</script><!-- <img src=x>", "< /script>< !-- <img src=x>"),
        ("", ""),
    ],
)
def test_what_controls_a_terminal_or_ends_a_script_is_shown_instead(given, shown):
    assert plain(given) == shown


@given(anything)
@example("\x1b]0;title\x07</script>")
def test_plain_words_are_one_line_that_controls_nothing(given):
    shown = plain(given)
    assert not any(unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") for letter in shown)
    assert len(shown.splitlines()) <= 1
    shown.encode()
    assert "</" not in shown
    assert "<!" not in shown
    assert plain(shown) == shown


FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-1 to 5", "'=1")


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_is_marked_as_words(formula):
    assert cell(formula) == f"'{formula}"


@pytest.mark.parametrize(
    "value", [-5, 3.5, None, float("inf"), True, "-5", "+1,024.5", "-11.6 %", "-1e-5", "", "a=b", "0-3 7", "'a"]
)
def test_other_cells_stay_as_they_are(value):
    assert cell(value) is value


@given(anything)
def test_no_written_cell_begins_a_formula(words):
    stream = io.StringIO(newline="")
    csv.writer(stream).writerow([cell(words), "end"])
    begin = stream.getvalue().lstrip('"')[:1]
    assert begin not in ("=", "@", "\t", "\r", "\n")
    assert begin not in ("+", "-") or words.strip(" %")[1:2].isdigit()


# Names that are spelt wrong

SCHEDULE = sl.simulate(sl.testing.trace_of([(0, 60, 60, 1)], machine=4))
MISSPELT = {
    "a scheme": (lambda: sl.simulate(SCHEDULE.trace, "esay"), "'easy'"),
    "a scheme with its order": (lambda: sl.simulate(SCHEDULE.trace, "easy_sjf"), "'easy-sjf'"),
    "a scheme before its order": (lambda: sl.simulate(SCHEDULE.trace, "esay-sjf"), "'easy-sjf'"),
    "an order": (lambda: sl.EASY(order="sfj"), "'sjf'"),
    "an order after a scheme": (lambda: sl.simulate(SCHEDULE.trace, "easy-sfj"), "'sjf'"),
    "a convention": (lambda: sl.simulate(SCHEDULE.trace, overrun="kil"), "'kill'"),
    "a machine's allocation": (lambda: sl.KaryTree(2, 3, allocation="Contigous"), "'contiguous'"),
    "a column of a schedule": (lambda: SCHEDULE.column("runtime"), "'run_time'"),
    "classes": (lambda: SCHEDULE.metrics(by="usr"), "'user'"),
    "a window": (lambda: SCHEDULE.metrics(window="make span"), "'makespan'"),
    "a column in a condition": (lambda: SCHEDULE.trace.where("runtime > 5"), "'run_time'"),
    "a column of names": (lambda: SCHEDULE.trace.codes("que"), "'queue'"),
    "a column of a chart": (lambda: sl.charts.lines(pd.DataFrame({"load": [1]}), "laod", "load"), "'load'"),
    "a model": (lambda: sl.model_trace("lubin"), "'lublin'"),
    "a parameter of a model": (lambda: sl.model_trace(clases="batch"), "'classes'"),
    "classes of a model": (lambda: sl.model_trace(classes="bach"), "'batch'"),
    "a trace": (lambda: sl.load_trace("KTH SP2 1996"), "'KTH-SP2-1996'"),
    "a paper": (lambda: sl.papers.modules(["pascal2008"]), "'pascual2008'"),
    "a paper's module": (lambda: sl.papers.pascual08, "'pascual2008'"),
    "a function of the package": (lambda: sl.simulat, "'simulate'"),
    "a scheme's class": (lambda: sl.Conservativ, "'Conservative'"),
    "a room": (lambda: sl.metric, "'metrics'"),
}


@pytest.mark.parametrize("mistake", MISSPELT)
def test_a_misspelt_name_gets_a_suggestion(mistake):
    call, meant = MISSPELT[mistake]
    with pytest.raises((ValueError, LookupError, AttributeError)) as raised:
        call()
    assert str(raised.value).endswith(f"; did you mean {meant}?")


@pytest.mark.parametrize("given", ["fifo", "", None, 3, "recorded"])
def test_a_name_like_no_other_gets_no_suggestion(given):
    with pytest.raises(ValueError, match="; known: fcfs, easy, easy-sjf$"):
        check_known("scheme", given, ("fcfs", "easy", "easy-sjf"))


def test_suggestions_come_from_text_only_and_python_adds_no_second():
    assert suggestion("load", [1, None, ("load",), "Load"]) == "; did you mean 'Load'?"
    with pytest.raises(AttributeError) as raised:
        sl.simulat  # noqa: B018
    assert "".join(traceback.format_exception(raised.value)).count("simulate'") == 1

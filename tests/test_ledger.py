"""The ledger: the rule that makes verdicts, and how a ledger is shown and kept."""

import ast
import base64
import inspect
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab import kept, papers
from schedlab.display.ledgers import VERDICTS, as_html, as_json, as_markdown, counted, summary
from schedlab.papers import Check, Claim, exact, judged, ledger, untestable
from schedlab.papers.figure import rebuilt
from schedlab.papers.ledger import claims_of
from schedlab.workload.archive import TraceNotFound

CLAIM = Claim("A-1", "Figure 3", "B is faster than A", "by 10 %")
EVIL = "<img src=x onerror=alert(1)>"


def cases(*rows, **labels):
    """Return cases of (value, low, high), or of values alone."""
    rows = [row if isinstance(row, tuple) else (row, np.nan, np.nan) for row in rows]
    labels = labels or {"load": [0.1 * i for i in range(1, len(rows) + 1)]}
    return pd.DataFrame(rows, columns=["value", "low", "high"]).assign(**labels)


# Cases


@pytest.mark.parametrize(
    ("expected", "bound", "noise", "case", "outcome"),
    [
        ("lower", 0, 0, (-3, -5, -1), "yes"),
        ("lower", 0, 0, (-3, -7, 1), "open"),
        ("lower", 0, 0, (3, -1, 7), "open"),
        ("lower", 0, 0, (3, 1, 7), "no"),
        ("lower", 0, 0, (-3, np.nan, np.nan), "yes"),
        ("lower", 0, 0, (3, np.nan, np.nan), "no"),
        ("lower", 0, 5, (-3, -4, -2), "no"),  # differences below 5 are noise
        ("lower", 0, 5, (-3, -9, 3), "open"),
        ("lower", 0, 5, (-7, -9, -6), "yes"),
        ("lower", 10, 0, (8, 7, 9), "yes"),
        ("higher", 0, 0, (3, 1, 7), "yes"),
        ("higher", 1, 0, (0.5, 0.4, 0.6), "no"),
        ("higher", 1, 0, (1.5, 0.9, 2.1), "open"),
        ("not lower", 0, 0, (-3, -7, 1), "open"),
        ("not lower", 0, 0, (-3, -7, -1), "no"),
        ("not lower", 0, 5, (-3, -4, -2), "yes"),
        ("not higher", 4, 0, (5, 4.5, 6), "no"),
        ("not higher", 4, 0, (5, 3, 7), "open"),
        ("within", (1.8, 2.2), 0, (2, 1.9, 2.1), "yes"),
        ("within", (1.8, 2.2), 0, (1.65, 1.58, 1.73), "no"),
        ("within", (1.8, 2.2), 0, (1.65, 1.5, 1.9), "open"),
        ("within", (1.8, 2.2), 0, (2, 1, 3), "open"),  # too wide to decide
        ("within", (1.8, 2.2), 0, (2, np.nan, np.nan), "yes"),
        ("within", (1.8, 2.2), 0, (2.3, np.nan, np.nan), "no"),
        ("within", (1.8, 2.2), 0.2, (2.3, np.nan, np.nan), "yes"),
    ],
)
def test_a_case_holds_fails_or_is_open(expected, bound, noise, case, outcome):
    assert Check("it", cases(case), expected, bound, noise).outcomes.tolist() == [outcome]


def test_a_check_refuses_what_it_cannot_judge():
    with pytest.raises(ValueError, match="unknown expectation 'faster'; known: lower, higher, not lower"):
        Check("it", cases(1), "faster")
    with pytest.raises(ValueError, match="the cases of 'it' have no column 'high'"):
        Check("it", cases(1).drop(columns="high"), "lower")


def test_a_case_without_a_value_is_none():
    assert len(Check("it", cases(-1, np.nan), "lower").cases) == 1


# Verdicts: the same rule for every paper


@pytest.mark.parametrize(
    ("values", "verdict", "reason"),
    [
        ([-3, -2, -1], "reproduced", ""),
        ([-3, -2, 1], "trend only", "Holds in 2 of 3 cases; not: +1.0 % (load 0.3)."),
        ([-3, 2, 1], "not reproduced", "Holds in 1 of 3 cases; not: +2.0 % (load 0.2); +1.0 % (load 0.3)."),
        ([3, 2, 1, 4], "not reproduced", "Holds in 0 of 4 cases."),
        ([(-1, -3, 1)], "not testable", "The only case is open: its interval does not decide it."),
        ([-3, (-1, -3, 1), (-1, -3, 1)], "trend only", "Holds in 1 of 3 cases, 2 are open."),
        ([-3, (-1, -3, 1), 1], "not reproduced", "Holds in 1 of 3 cases, 1 is open; not: +1.0 % (load 0.3)."),
    ],
)
def test_one_rule_makes_the_verdict(values, verdict, reason):
    row = judged(CLAIM, Check("change", cases(*values), "lower"), "a log")
    assert (row["verdict"], row["reason"]) == (verdict, reason)
    assert len(row["cases"]) == len(values)


def test_the_reason_found_stands_where_something_fails_only():
    why = "Few jobs wait."
    failed, found, opened = (
        judged(CLAIM, Check("change", cases(*values), "lower"), "a log", why=why)["reason"]
        for values in ([-3, 1], [-3], [-3, (-1, -3, 1)])
    )
    assert failed.endswith(why)
    assert why not in found + opened


def test_all_cases_of_all_checks_count_alike():
    checks = [Check("turnaround", cases(-3, -2, -1), "lower"), Check("slowdown", cases(5), "lower")]
    row = judged(CLAIM, checks, "a log")
    assert row["verdict"] == "trend only"
    assert row["measured"] == "slowdown: +5.0 %"  # the check that fails decides
    assert row["reason"] == "Holds in 3 of 4 cases; not: slowdown +5.0 %."


def test_what_is_measured_is_one_figure_with_its_interval():
    check = Check("change", cases((-3, -5, -1), (-9, -9.5, -8)), "lower")
    assert judged(CLAIM, check, "a log")["measured"] == "-3.0 % [-5.0 to -1.0] (load 0.1)"
    assert judged(CLAIM, check, "a log", measured="-6 %")["measured"] == "-6 %"


def test_only_zero_is_written_as_zero():
    check = Check("change", cases((-0.002, -0.2, 0.0)), "lower")
    assert judged(CLAIM, check, "a log")["measured"] == "-0.002 % [-0.2 to 0.0]"


def test_without_cases_nothing_can_be_tested():
    row = judged(CLAIM, [Check("change", cases(np.nan), "lower")], "a log")
    assert (row["verdict"], row["reason"]) == ("not testable", "nothing could be measured")


def test_stand_ins_are_no_evidence():
    row = judged(CLAIM, Check("change", cases(-3), "lower"), "CTC (stand-in, not the real log)")
    assert (row["verdict"], row["reason"]) == (
        "trend only",
        "All cases hold, but stand-ins are no evidence about the logs.",
    )


def test_what_must_come_out_exactly():
    assert exact(CLAIM, True, "1.5", why="It is another number.")["reason"] == ""
    row = exact(CLAIM, False, "1.6", why="It is another number.")
    assert (row["verdict"], row["reason"]) == ("not reproduced", "It is another number.")


# Ledgers


def rows():
    return [
        judged(CLAIM, Check("change", cases((-3, -5, -1), (-9, -9.5, -8)), "lower"), "CTC", details="See section 3."),
        judged(Claim("A-2", "Figure 4", f"C {EVIL}", "never"), Check("change", cases(5), "lower"), "CTC", why="So."),
        untestable(Claim("A-3", "Figure 5", "D", "0.3 %"), "The log is not at hand."),
    ]


def test_a_ledger_shows_itself_one_row_a_claim():
    shown = ledger(rows())._repr_html_()
    assert shown.count('<tbody class="row-') == 3
    for words in ("B is faster than A", "by 10 %", "-3.0 % [-5.0 to -1.0] (load 0.1)", "Measured on CTC."):
        assert words in shown
    verdicts = re.findall(r'<strong class="verdict [a-z-]+">(.*?)</strong>', shown)
    assert verdicts == ["reproduced", "not reproduced", "not testable"]
    assert re.findall(r"<label[^>]*>(.*?)</label>", shown) == [
        "all (3)",
        "reproduced (1)",
        "not reproduced (1)",
        "not testable (1)",
    ]
    assert "<summary>2 cases</summary><div>See section 3.</div><table>" in shown
    assert re.findall(r'<td class="reason" colspan="4">([^<]+)', shown) == [
        "Holds in 0 of 1 case; not: +5.0 %. So.",
        "The log is not at hand.",
    ]
    assert EVIL not in shown
    assert "<script" not in shown


def test_a_part_of_a_ledger_is_one_and_another_table_is_none():
    table = ledger(rows())
    assert table[table["verdict"] == "reproduced"]._repr_html_().count('<tbody class="row-') == 1
    assert "schedlab-ledger" not in table[["id", "verdict"]]._repr_html_()


def test_traces_do_not_wrap_and_many_are_counted_and_named_behind_the_fold():
    row = judged(CLAIM, Check("change", cases(-3), "lower"), "CTC (a stand-in, not the log), KTH, SDSC")
    other = judged(CLAIM, Check("change", cases(-3), "lower"), "CTC")
    shown = as_html(ledger([row, other]))
    assert "<summary>1 case on 3 logs</summary>" in shown
    assert "<div>Measured on CTC (a stand-in, not the log), KTH, SDSC.</div>" in shown
    assert '<summary>1 case on <span class="trace">CTC</span></summary>' in shown
    plain = exact(CLAIM, True, "1.5", trace="KTH")
    assert '<div>on <span class="trace">KTH</span></div>' in as_html(ledger([plain, row]))


def test_markdown_and_plain_have_a_line_a_claim():
    table = ledger(rows())
    lines = as_markdown(table).splitlines()
    assert len(lines) == 2 + 3
    assert lines[2].startswith("| A-1 | reproduced | B is faster than A | by 10 % | -3.0 %")
    assert summary(table)["verdict"].tolist() == table["verdict"].tolist()


def test_json_has_every_row_with_its_cases():
    written = json.loads(as_json(ledger(rows())))
    assert [row["id"] for row in written] == ["A-1", "A-2", "A-3"]
    assert [len(row["cases"]) for row in written] == [2, 1, 0]


def test_verdicts_are_counted_in_order():
    assert counted(ledger(rows())) == {
        "reproduced": 1,
        "trend only": 0,
        "not reproduced": 1,
        "not testable": 1,
    }


# Kept results


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(kept, "folder", lambda: tmp_path)
    kept.ledger_of.cache_clear()
    yield tmp_path
    kept.ledger_of.cache_clear()


@pytest.fixture
def figure():
    return papers.Figure("figure1", "A figure", "What it shows.", pd.DataFrame({"load": [0.5], "wait_time": [1 / 3]}))


def test_what_is_kept_is_read_back(folder, figure):
    table = ledger(rows())
    kept.keep("tiny", table, ledger(rows()), [figure], 12.3)
    again = kept.ledger_of("tiny")
    assert again.to_dict("records") == table.to_dict("records")
    assert kept.numbers_of("tiny", "figure1")["wait_time"].tolist() == pytest.approx([1 / 3], rel=1e-8)
    about = kept.made("tiny")
    assert (about["schedlab"], about["seconds"], about["size"]) == (sl.__version__, 12, "full")
    before = {path.name: path.read_bytes() for path in (folder / "tiny").iterdir()}
    kept.keep("tiny", table, ledger(rows()), [figure], 12.3)
    assert {path.name: path.read_bytes() for path in (folder / "tiny").iterdir()} == before


def measured(value, low, high, name="A-1", bound=0.0, **more):
    """Return a row of one case with its interval."""
    return judged(Claim(name, "", "it grows", ""), Check("growth", cases((value, low, high)), "higher", bound), "a log")


def test_a_ledger_moves_where_a_verdict_or_a_case_does(folder):
    before = [measured(5, 3, 7), exact(Claim("A-2", "", "it is 1", ""), True, "1"), measured(5, 3, 7, "A-3")]
    kept.keep("tiny", ledger(rows()), ledger(before), [], 1)
    expected = kept.ledger_of("tiny", kept.QUICK)
    assert kept.moved(expected, ledger(before)) == []
    assert kept.moved(expected, ledger([measured(6.9, 4, 9), *before[1:]])) == []
    assert kept.moved(expected, ledger([measured(7.2, 4, 9), *before[1:]])) == [
        "A-1, it grows: growth (load 0.1; higher) was +5.0 % [+3.0 to +7.0], is +7.2 % [+4.0 to +9.0]"
    ]
    assert kept.moved(expected, ledger([measured(7.2, 4, 9), *before[1:]]), timed=["A-1"]) == []
    assert kept.moved(expected, ledger([measured(4, -1, 9), *before[1:]])) == [
        "A-1, it grows: reproduced before, not testable now"
    ]
    different = exact(Claim("A-2", "", "it is 1", ""), True, "1.0")
    assert kept.moved(expected, ledger([before[0], different, measured(5, 3, 7, "A-4")])) == [
        "A-3, it grows: no longer there",
        "A-2, it is 1: what was measured was 1, is 1.0",
        "A-4, it grows: new",
    ]


def test_nothing_is_kept_of_other_papers(folder):
    assert (kept.ledger_of("tiny"), kept.made("tiny"), kept.numbers_of("tiny", "figure1")) == (None, None, None)


def test_the_kept_figure_stands_beside_a_quick_one(folder):
    import altair as alt

    def made(load, **more):
        data = pd.DataFrame({"load": [load], "wait_time": [1 / 3]})
        chart = alt.Chart(data, title=f"at load {load}").mark_point().encode(x="load:Q", y="wait_time:Q")
        table = pd.DataFrame({"load": [f"<{load}>"], "wait": ["1/3"]})
        return papers.Figure("figure1", "A & B", "What it shows.", data, chart, table, paper="tiny", **more)

    assert made(0.5).kept() == ""  # nothing is kept
    kept.keep("tiny", ledger(rows()), ledger(rows()), [made(0.5)], 1)
    assert made(0.5).kept() == ""  # the same numbers
    assert replace(made(0.7), paper="").kept() == ""  # a user's own figure
    shown = made(0.7).kept()
    assert f"<summary>Full size, made {kept.made('tiny')['made']}</summary>" in shown
    assert 'alt="A &amp; B"' in shown
    assert "&lt;0.5&gt;</td>" in shown
    picture = base64.b64decode(re.search(r"data:image/svg\+xml;base64,([^\"]*)", shown)[1]).decode()
    assert picture.startswith("<svg")
    assert "at load 0.5" in picture


def test_a_row_finds_its_kept_one_by_its_statement_where_the_log_is_not_at_hand(folder):
    full = [exact(Claim("A-1", "", statement, ""), True, "1", trace="KTH") for statement in ("one", "two")]
    kept.keep("tiny", ledger(full), ledger(rows()), [], 1)
    now = [untestable(Claim("A-1", "", statement, ""), "KTH is not at hand") for statement in ("one", "two")]
    assert counted(ledger(now, kept.ledger_of("tiny")))["reproduced"] == 2


def test_what_was_kept_stays_until_the_new_is_whole(folder, figure, monkeypatch):
    kept.keep("tiny", ledger(rows()), ledger(rows()), [figure], 1)
    (folder / "tiny" / ".ipynb_checkpoints").mkdir()
    before = {path.name for path in (folder / "tiny").iterdir()}
    broken = replace(figure, chart=object())  # which cannot be saved
    with pytest.raises(AttributeError):
        kept.keep("tiny", ledger(rows()), ledger(rows()), [broken], 1)
    assert {path.name for path in (folder / "tiny").iterdir()} == before
    assert [path.name for path in folder.iterdir()] == ["tiny"]
    kept.keep("tiny", ledger(rows()), ledger(rows()), [figure], 2)
    assert [path.name for path in folder.iterdir()] == ["tiny"]
    assert kept.made("tiny")["seconds"] == 2


def test_what_was_kept_stays_if_the_new_cannot_take_its_place(folder, figure, monkeypatch):
    kept.keep("tiny", ledger(rows()), ledger(rows()), [figure], 1)
    rename = Path.rename

    def failing(path, target):
        if path.name.endswith("-new"):
            raise OSError("no")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="no"):
        kept.keep("tiny", ledger(rows()), ledger(rows()), [figure], 2)
    assert [path.name for path in folder.iterdir()] == ["tiny"]
    assert kept.made("tiny")["seconds"] == 1


def test_kept_cases_are_those_of_the_kept_traces(folder):
    kept.keep("tiny", ledger(rows()), ledger(rows()), [], 1)
    now = [row | {"trace": "CTC (stand-in, not the real log)"} for row in rows()]
    shown = ledger(now, kept.ledger_of("tiny"))._repr_html_()
    assert "Measured on CTC.<" in shown
    now[0] |= {"measured": "+7.0 %"}
    shown = ledger(now, kept.ledger_of("tiny"))._repr_html_()
    assert "just now, on CTC (stand-in, not the real log): +7.0 %, reproduced" in shown


@pytest.mark.parametrize("name", ["figure1.csv.gz", "made.json"])
def test_damaged_results_are_named_and_passed_over(folder, figure, name):
    kept.keep("tiny", ledger(rows()), ledger(rows()), [figure], 1)
    (folder / "tiny" / name).write_bytes(b"no")
    other = replace(figure, data=figure.data * 2, paper="tiny")
    with pytest.warns(UserWarning, match=r"the kept results in .*tiny cannot be read"):
        assert other.kept() == ""


def test_a_stale_figure_says_so(folder, figure, monkeypatch):
    sl.simulate(sl.model_trace("lublin", jobs=20, procs=16), "easy")
    kept.keep("tiny", ledger(rows()), ledger(rows()), [figure], 1)
    monkeypatch.setattr(kept, "kernel_digest", lambda name: "another")
    assert "; the kernels have changed since" in replace(figure, data=figure.data * 2, paper="tiny").kept()


def test_a_figure_that_is_rebuilt_knows_its_name_its_size_and_its_paper():
    data = pd.DataFrame({"load": [0.5]})

    def figure_9(size, progress):
        """Rebuild it."""
        return f"{size}, {progress}", data, "a chart", None, ("more",)

    figure_9.__module__ = "schedlab.papers.tiny"
    function = rebuilt("Figure 9", lambda size: (f"of the {size} size",))(figure_9)
    built = function("full")
    assert (built.name, built.title, built.caption, built.chart) == ("figure-9", "Figure 9", "full, True", "a chart")
    assert (built.paper, built.notes) == ("tiny", ("of the full size", "more"))
    assert built.data is data
    assert function.__doc__.startswith("Rebuild it.\n\nParameters\n----------\nsize : ")
    assert str(inspect.signature(function)).startswith("(size: str | None = None, progress: bool = True) -> ")
    with pytest.raises(ValueError, match="unknown size 'huge'; known: quick, full"):
        function("huge")
    figure_9.__module__ = "mylab.base"
    assert rebuilt("Figure 9")(figure_9)("full").paper == ""


def test_a_figure_whose_log_is_missing_says_so():
    def figure1(size, progress):
        """Rebuild it."""
        raise TraceNotFound("no log at hand for X-1999")

    built = rebuilt("Figure 1", ("a note",))(figure1)()
    assert (built.caption, built.chart, built.table, built.notes) == ("no log at hand for X-1999", None, None, ())
    assert built.data.empty


@pytest.mark.parametrize("paper", [name for name in papers.PAPERS if name != "base"])
def test_what_a_paper_says_is_a_table(paper):
    said = claims_of(paper)
    assert all(name == claim.id and claim.where and claim.statement and claim.published for name, claim in said.items())
    assert len({claim.id[:3] for claim in said.values()}) == 1
    judged = {name.partition(" ")[0] for name in kept.ledger_of(paper)["id"]}
    assert judged == set(said)


def test_a_figure_of_a_family_is_named_by_its_maker():
    def made(size, progress):
        return "caption", pd.DataFrame()

    function = rebuilt("Figure 4", ("a note",), "figure4", "Rebuild Figure 4.")(made)
    built = function(progress=False)
    assert (function.__name__, built.name, built.chart, built.table) == ("figure4", "figure4", None, None)
    assert built.notes == ("a note",)
    assert function.__doc__.startswith("Rebuild Figure 4.\n\nParameters")


def test_a_change_of_a_kernel_makes_stale_what_came_from_it(folder, figure, monkeypatch):
    sl.simulate(sl.model_trace("lublin", jobs=20, procs=16), "easy")
    kept.keep("tiny", ledger(rows()), ledger(rows()), [figure], 1)
    assert "schedlab.kernels.easy" in kept.made("tiny")["kernels"]
    assert not kept.stale("tiny")
    digest = kept.kernel_digest
    monkeypatch.setattr(kept, "kernel_digest", lambda name: digest(name) if name.endswith("easy") else "another")
    only_easy = {"schedlab.kernels.easy": digest("schedlab.kernels.easy")}
    monkeypatch.setattr(kept, "made", lambda paper: {"kernels": only_easy})
    assert not kept.stale("tiny")
    monkeypatch.setattr(kept, "kernel_digest", lambda name: None)  # the kernel no longer exists
    assert kept.stale("tiny")


def test_kernels_of_results_that_come_from_a_store_are_still_known(folder, figure, monkeypatch):
    kept.keep("tiny", ledger(rows()), ledger(rows()), [figure], 1)
    made = kept.made("tiny")
    made["kernels"] = {"schedlab.kernels.gang.slices": "old", "schedlab.kernels.gone": "old"}
    (folder / "tiny" / "made.json").write_text(json.dumps(made))
    kept.keep("tiny", ledger(rows()), ledger(rows()), [figure], 1)
    now = kept.made("tiny")["kernels"]
    assert now["schedlab.kernels.gang.slices"] == kept.kernel_digest("schedlab.kernels.gang.slices")
    assert "schedlab.kernels.gone" not in now


def test_the_digest_of_a_kernel_counts_what_it_does_and_what_it_imports(tmp_path, monkeypatch):
    kernels = tmp_path / "kernels"
    (kernels / "gang").mkdir(parents=True)
    monkeypatch.setattr(kept, "__file__", str(tmp_path / "kept.py"))
    texts = {
        "fcfs.py": '"""One."""\nfrom .cluster import begin\ndef f(a):\n    """Two."""\n    return begin(a) + 1  # 3\n',
        "cluster.py": "from ._jit import part\nbegin = abs\n",
        "gang/slices.py": "from ..cluster import begin\nfrom . import state\n",
        "gang/state.py": "SIZE = 3\n",
        "_jit.py": "part = None\n",
    }

    def digests(changed=None, text=None):
        for name, usual in texts.items():
            (kernels / name).write_text(text if name == changed else usual)
        kept._source.cache_clear()
        return [kept.kernel_digest(f"schedlab.kernels.{name}") for name in ("fcfs", "gang.slices", "cluster")]

    usual = digests()
    assert len(set(usual)) == 3
    same = '"""Other words."""\nfrom .cluster import begin\ndef f(a):\n    return begin(a) + 1\n'
    assert digests("fcfs.py", same) == usual
    assert digests("_jit.py", "part = 1\n") == usual
    changes = {
        ("fcfs.py", same.replace("1", "2")): [True, False, False],
        ("gang/state.py", "SIZE = 4\n"): [False, True, False],
        ("cluster.py", "begin = round\n"): [True, True, True],
    }
    for (name, text), moved in changes.items():
        assert [one != other for one, other in zip(digests(name, text), usual, strict=True)] == moved
    assert kept.kernel_digest("schedlab.kernels.nothing") is None
    kept._source.cache_clear()


def test_the_digest_of_a_kernel_is_the_same_with_any_python():
    code = "def f(a):\n    return [a.b, None]\n"
    assert kept._told(ast.parse(code)) == (  # ast.dump has more or fewer fields in each version
        "Module(body=[FunctionDef(name='f', args=arguments(args=[arg(arg='a')]), body=[Return(value=List(elts=["
        "Attribute(value=Name(id='a', ctx=Load()), attr='b', ctx=Load()), Constant()], ctx=Load()))])])"
    )


def test_the_full_size_stands_beside_this_run(folder):
    kept.keep("tiny", ledger(rows()), ledger(rows()), [], 1)
    now = [*rows()[:2], judged(Claim("A-3", "Figure 5", "D", "0.3 %"), Check("gain", cases(4.0), "higher"), "KTH")]
    now[1] = now[1] | {"measured": "+7.0 %", "verdict": "trend only", "reason": "Quick."}
    table = ledger(now, kept.ledger_of("tiny"))
    assert counted(table)["not reproduced"] == 1  # the full size counts
    shown = table._repr_html_()
    assert "full size: +5.0 %" in shown
    assert "just now: +7.0 %, trend only" in shown
    assert "just now, on KTH: +4.0 %, reproduced" in shown
    assert shown.count("full size:") == 2  # a row with equal results is shown once
    assert summary(table)["measured"].tolist() == [row["measured"] for row in rows()]


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_kept_results_are_whole(paper):
    assert kept.made(paper), f"nothing is kept: schedlab figures {paper} --size full --keep"
    assert json.loads((kept.folder() / paper / "made.json").read_text())["size"] == "full"
    assert set(kept.ledger_of(paper)["verdict"]) <= set(VERDICTS)


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_kept_results_are_as_the_kernels_are(paper):
    assert not kept.stale(paper), f"the kernels have changed: schedlab figures {paper} --size full --keep"


@pytest.mark.traces
@pytest.mark.parametrize("paper", ["base", "lelong2017"])  # all others where their notebooks run: test_notebooks.py
def test_what_a_quick_run_measures_is_what_is_kept(paper):
    expected = kept.ledger_of(paper, kept.QUICK)
    assert expected is not None, f"nothing is kept: schedlab figures {paper} --size full --keep"
    moved = kept.moved(expected, getattr(papers, paper).claims("quick", progress=False))
    assert not moved, "\n".join(moved)

"""The ledger: the rule that makes verdicts, and how a ledger is shown and kept."""

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from measurements import exactly

import schedlab as sl
from schedlab import papers
from schedlab.papers import Check, Claim, exact, judged, kept, ledger, untestable
from schedlab.papers.ledger import claimed, claims_of
from schedlab.show.ledgers import VERDICTS, as_html, as_json, as_markdown, counted, summary
from schedlab.show.reading import MINUS, reason

CLAIM = Claim("A-1", "Figure 3", "B is faster than A", "by 10 %")
EVIL = "<img src=x onerror=alert(1)>"


def measured(*values, half=1.0, name="A-1", expected="lower", bound=0.0, **settings):
    """Return a row of cases with these means and half lengths of their single intervals."""
    claim = CLAIM if name == "A-1" else Claim(name, "", "it grows", "")
    return judged(claim, Check("change", exactly(*values, half=half), expected, bound), "a log", **settings)


# Verdicts


@pytest.mark.parametrize(
    ("values", "verdict", "reason"),
    [
        ([-5, -6, -7], "reproduced", ""),
        ([-5, -6, 5], "in part", "2 of 3 cases support it, 1 contradicts it (+5.0 % [+3.7 to +6.3] (load 0.3))."),
        ([5, 6], "not reproduced", "2 of 2 cases contradict it (+5.0 % [+4.0 to +6.0] (load 0.1); +6.0 % [+4.5 to "),
        ([5], "not reproduced", "What was measured contradicts it."),
        ([-0.5], "undecided", "The interval allows both."),
        ([(-0.5, 3), (0.5, 2)], "undecided", "The intervals of all 2 cases allow both."),
    ],
)
def test_the_main_check_makes_the_verdict(values, verdict, reason):
    row = measured(*values)
    assert row["verdict"] == verdict
    assert row["reason"].startswith(reason)
    assert bool(row["reason"]) == bool(reason)
    assert len(row["conditions"]) == len(values) + (len(values) > 1)


def test_the_reason_found_stands_where_the_claim_is_not_reproduced():
    assert measured(5, why="Few jobs wait.")["reason"].endswith("Few jobs wait.")
    assert measured(5, conjecture="few jobs wait.")["reason"].endswith("Conjecture: few jobs wait.")
    assert measured(-5, why="Few jobs wait.", conjecture="So.")["reason"] == ""


def test_further_checks_stand_below_and_do_not_vote():
    row = measured(-5, -6, others=[Check("slowdown", exactly(5), "lower")])
    assert row["verdict"] == "reproduced"
    outcomes = [("change", "supports"), ("change", "supports"), ("change", "holds"), ("slowdown", "contradicts")]
    assert [(condition["check"], condition["outcome"]) for condition in row["conditions"]] == outcomes


@pytest.mark.parametrize(
    ("primary", "other", "verdict", "readings"),
    [
        (-5, -6, "reproduced", "holds under: EASY, conservative"),
        (-5, 6, "in part", "holds under: EASY; fails under: conservative"),
        (5, -6, "in part", "holds under: conservative; fails under: EASY"),
        (5, 6, "not reproduced", "fails under: EASY, conservative"),
        (-5, 0.1, "reproduced", "holds under: EASY; undecided under: conservative"),
        (0.1, -5, "in part", "holds under: conservative; undecided under: EASY"),
        (0.1, 5, "undecided", "fails under: conservative; undecided under: EASY"),
    ],
)
def test_a_claim_is_judged_under_each_reading(primary, other, verdict, readings):
    values = {"EASY": primary, "conservative": other}
    checks = {name: Check("change", exactly(value), "lower") for name, value in values.items()}
    row = judged(CLAIM, checks, "a log")
    assert (row["verdict"], row["readings"]) == (verdict, readings)
    assert row["measured"].startswith(f"change: {primary:+.1f} %")
    assert [condition["check"] for condition in row["conditions"]] == ["change, EASY", "change, conservative"]
    assert row["reason"] or verdict == "reproduced"
    only = (primary, other) == (-5, 6)  # only a reading makes it hold in part: what it says is told
    assert (row["reason"] == "change, conservative: What was measured contradicts it.") == only


def test_what_is_measured_is_the_effect_with_its_interval():
    assert measured(-3, -9)["measured"] == "change: -6.0 % [-7.3 to -4.7] on average over 2 cases"
    assert measured(-3)["measured"] == "change: -3.0 % [-4.0 to -2.0]"
    assert measured(-3, measured="-6 %")["measured"] == "-6 %"


@pytest.mark.parametrize("check", [None, Check("change", exactly(np.nan), "lower"), {"EASY": None}])
def test_without_conditions_nothing_can_be_tested_and_stand_ins_are_no_evidence(check):
    row = judged(CLAIM, check, "a log")
    assert (row["verdict"], row["reason"]) == ("cannot be tested", "nothing could be measured")
    row = judged(CLAIM, Check("change", exactly(-3), "lower"), "CTC (stand-in, not the real log)")
    assert (row["verdict"], row["reason"]) == ("cannot be tested", "Stand-ins are no evidence about the logs.")
    assert row["measured"] == "change: -3.0 % [-4.0 to -2.0]"


def test_what_must_come_out_exactly():
    assert exact(CLAIM, True, "1.5", why="It is another number.")["reason"] == ""
    row = exact(CLAIM, False, "1.6", why="It is another number.")
    assert (row["verdict"], row["reason"]) == ("not reproduced", "It is another number.")


# Ledgers


def rows():
    return [
        judged(CLAIM, Check("change", exactly(-3, -9), "lower"), "CTC", details="See section 3."),
        judged(Claim("A-2", "Figure 4", f"C {EVIL}", "never"), Check("change", exactly(5), "lower"), "CTC", why="So."),
        untestable(Claim("A-3", "Figure 5", "D", "0.3 %"), "The log is not at hand."),
    ]


def test_a_ledger_shows_itself_one_row_a_claim():
    shown = ledger(rows())._repr_html_()
    assert shown.count('<tbody class="row-') == 3
    told = 'change: -6.0 % <span class="ends">[-7.3 to -4.7]</span> on average over 2 cases'
    assert told in shown.replace(MINUS, "-")
    for words in ("B is faster than A", "by 10 %", "Measured on CTC."):
        assert words in shown
    verdicts = re.findall(r'<span class="schedlab-badge schedlab-[a-z]+">. (.*?)</span>', shown)
    assert verdicts == ["not reproduced", "cannot be tested", "reproduced"]  # the order in which readers look for them
    filters = re.findall(r"<label[^>]*>(.*?)</label>", shown)
    assert filters == ["all (3)", "not reproduced (1)", "cannot be tested (1)", "reproduced (1)"]
    assert "<summary>2 cases</summary><div>See section 3.</div><table>" in shown
    reasons = re.findall(r'<td class="reason" colspan="4">([^<]+)', shown)
    assert reasons == ["What was measured contradicts it. So.", "The log is not at hand."]
    assert EVIL not in shown
    assert "<script" not in shown


def test_a_ledger_writes_numbers_as_people_read_them():
    row = judged(CLAIM, Check("change", exactly(-3, -9), "lower"), "CTC")
    row |= {"measured": "gain less that of A: +1.41e+03 [-96.1 to +19242.4] (B, EASY (count))"}
    row |= {"published": "wait 15187.6077 s", "reason": "gain, A: 1 of 2 cases supports it. gain, B: it is open."}
    shown = ledger([row])._repr_html_()
    assert "gain minus that of A: +1,410 <span" in shown
    assert f"[{MINUS}96.1 to +19,200]</span> for B, EASY (count)" in shown
    assert "wait 15,187.6077 s (4.22 h)" in shown
    assert "Gain, A: 1 of 2 cases supports it. Gain, B: it is open." in shown
    assert "+1,410" in summary(ledger([row]))["measured"][0]


def test_a_reason_says_once_what_holds_for_several_readings():
    said = "6 of 7 cases support it. "
    words = "".join(f"wait of FCFS 0.5, by {name}: What was measured contradicts it. " for name in ("count", "block"))
    assert reason(f"{said}{words}So.") == f"{said}Under 2 readings, what was measured contradicts the claim. So."
    assert reason("wait: What was measured contradicts it.") == "Wait: What was measured contradicts it."
    assert reason("0.000 (EASY (block)), 0.0092 times the published 0.250") == "0.000 for EASY (block), published 0.250"


def test_conditions_with_published_numbers_of_their_own_have_no_mean():
    runs = exactly(-3, -9)
    runs = runs.assign(published=runs["load"].map({0.1: -3.0, 0.2: -9.0}))
    shown = ledger([judged(CLAIM, Check("change", runs, "is", "published"), "CTC")])._repr_html_()
    assert "<td>all cases together</td><td>not averaged</td><td>as published</td>" in shown


def test_an_id_of_several_rows_is_shown_once():
    several = [exact(Claim("A-1", "Table 1", f"of {log}", "1.5"), True, "1.5") for log in ("CTC", "KTH")]
    shown = ledger(several)._repr_html_()
    assert shown.count('<td class="id">A-1</td>') == 1
    assert shown.count('<td class="id"><span class="again">A-1</span></td>') == 1


def test_traces_do_not_wrap_and_many_are_counted_and_named_behind_the_fold():
    row = judged(CLAIM, Check("change", exactly(-3), "lower"), "CTC (a stand-in, not the log), KTH, SDSC")
    other = judged(CLAIM, Check("change", exactly(-3), "lower"), "CTC")
    shown = as_html(ledger([row, other]))
    assert "<summary>1 case on 3 logs</summary>" in shown
    assert "<div>Measured on CTC (a stand-in, not the log), KTH, SDSC.</div>" in shown
    assert '<summary>1 case on <span class="trace">CTC</span></summary>' in shown
    plain = exact(CLAIM, True, "1.5", trace="KTH")
    assert '<div>on <span class="trace">KTH</span></div>' in as_html(ledger([plain, row]))


def test_each_form_of_a_ledger_has_its_claims():
    table = ledger(rows())
    lines = as_markdown(table).splitlines()
    assert len(lines) == 2 + 3
    assert lines[2].startswith("| A-1 | reproduced | B is faster than A | by 10 % | change: -6.0 %")
    assert summary(table)["verdict"].tolist() == table["verdict"].tolist()
    records = json.loads(as_json(table))
    assert [(row["id"], len(row["conditions"])) for row in records] == [("A-1", 3), ("A-2", 1), ("A-3", 0)]
    assert [*counted(table).items()] == [*zip(VERDICTS, (1, 0, 1, 0, 1), strict=True)]
    assert table[table["verdict"] == "reproduced"]._repr_html_().count('<tbody class="row-') == 1
    assert "schedlab-ledger" not in table[["id", "verdict"]]._repr_html_()  # which is no ledger


def test_a_fold_may_show_only_some_conditions_those_that_do_not_support_first():
    several = judged(CLAIM, Check("change", exactly(5, -9, 6, 7), "higher"), "CTC")
    table = ledger([several])
    assert as_html(table).count("<td>supports</td>") == 3
    short = as_html(table, most=2)
    assert "2 of 5, those that do not support the claim first:" in short
    assert "<td>contradicts</td>" in short
    assert "<td>supports</td>" not in short


# Kept results


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(kept, "folder", lambda: tmp_path)
    kept.ledger_of.cache_clear()
    yield tmp_path
    kept.ledger_of.cache_clear()


@pytest.fixture
def figure():
    data = pd.DataFrame({"load": [0.5], "wait_time": [1 / 3]})
    return papers.Card("A figure", "What it shows.", name="figure1", number="Figure 1", data=data)


def test_what_is_kept_is_read_back(folder, figure):
    assert (kept.ledger_of("tiny"), kept.made("tiny"), kept.numbers_of("tiny", "figure1")) == (None, None, None)
    kept.ledger_of.cache_clear()
    table = ledger(rows())
    kept.keep("tiny", table, ledger(rows()), [figure], 12.3)
    again = kept.ledger_of("tiny")
    texts = [[{name: str(each) for name, each in row.items()} for row in rows] for rows in table["conditions"]]
    assert again.to_dict("records") == table.assign(conditions=texts).to_dict("records")
    assert kept.numbers_of("tiny", "figure1")["wait_time"].tolist() == pytest.approx([1 / 3], rel=1e-8)
    about = kept.made("tiny")
    assert (about["schedlab"], about["seconds"], about["size"]) == (sl.__version__, 12, "full")
    before = {path.name: path.read_bytes() for path in (folder / "tiny").iterdir()}
    kept.keep("tiny", table, ledger(rows()), [figure], 12.3)
    assert {path.name: path.read_bytes() for path in (folder / "tiny").iterdir()} == before


def test_a_ledger_moves_where_a_verdict_or_a_condition_does(folder):
    grows = {"expected": "higher", "half": 2}
    before = [measured(5, **grows), exact(Claim("A-2", "", "it is 1", ""), True, "1"), measured(5, name="A-3", **grows)]
    kept.keep("tiny", ledger(rows()), ledger(before), [], 1)
    expected = kept.ledger_of("tiny", kept.QUICK)
    assert kept.moved(expected, ledger(before)) == []
    assert kept.moved(expected, ledger([measured(6.9, **grows), *before[1:]])) == []
    assert kept.moved(expected, ledger([measured(7.2, **grows), *before[1:]])) == [
        f"A-1, {CLAIM.statement}: change (load 0.1; higher) was +5.0 % [+3.0 to +7.0], is +7.2 % [+5.2 to +9.2]"
    ]
    assert kept.moved(expected, ledger([measured(7.2, **grows), *before[1:]]), timed=["A-1"]) == []
    assert kept.moved(expected, ledger([measured(1, **grows), *before[1:]])) == [
        f"A-1, {CLAIM.statement}: reproduced before, undecided now"
    ]
    different = exact(Claim("A-2", "", "it is 1", ""), True, "1.0")
    assert kept.moved(expected, ledger([before[0], different, measured(5, name="A-4", **grows)])) == [
        "A-3, it grows: no longer there",
        "A-2, it is 1: what was measured was 1, is 1.0",
        "A-4, it grows: new",
    ]


@pytest.mark.parametrize(
    ("now", "agrees"),  # in the second within the spread of single runs; in the last with one case in common
    [((-3, -9), "agrees"), ((-3, -10), "agrees"), ((-3, 9), "does not agree"), ((-3,), "agrees")],
)
def test_a_quick_run_agrees_with_the_full_size_or_does_not(folder, now, agrees):
    kept.keep("base", ledger(rows()), ledger(rows()), [], 1)

    def of_base(size, progress):
        """Return the ledger."""
        first = judged(CLAIM, Check("change", exactly(*now), "lower"), "CTC")
        return [first, exact(Claim("A-9", "", "new", ""), True, "1"), *rows()[2:]]

    of_base.__module__ = "schedlab.papers.base"
    table = claimed(of_base)("quick")
    assert table["verdict"].tolist() == [agrees, "", "cannot be tested"]
    assert ("load 0.2: +9.0 %" in table["reason"][0]) == (agrees == "does not agree")
    assert counted(table)["reproduced"] == 1  # that of the full size
    assert claimed(of_base)("full")["verdict"][1] == "reproduced"


def test_a_row_finds_its_kept_one_by_its_statement_where_the_log_is_not_at_hand(folder):
    full = [exact(Claim("A-1", "", statement, ""), True, "1", trace="KTH") for statement in ("one", "two")]
    kept.keep("tiny", ledger(full), ledger(rows()), [], 1)
    now = [untestable(Claim("A-1", "", statement, ""), "KTH is not at hand") for statement in ("one", "two")]
    assert counted(ledger(now, kept.ledger_of("tiny")))["reproduced"] == 2


def test_what_was_kept_stays_until_the_new_is_whole(folder, figure, monkeypatch):
    kept.keep("tiny", ledger(rows()), ledger(rows()), [figure], 1)
    (folder / "tiny" / ".ipynb_checkpoints").mkdir()
    before = {path.name for path in (folder / "tiny").iterdir()}
    broken = replace(figure, data=figure.data.iloc[:0])  # which cannot be kept
    with pytest.raises(ValueError, match="figure1 has nothing to keep"):
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


def test_kept_conditions_are_those_of_the_kept_traces(folder):
    kept.keep("tiny", ledger(rows()), ledger(rows()), [], 1)
    now = [row | {"trace": "CTC (stand-in, not the real log)"} for row in rows()]
    shown = ledger(now, kept.ledger_of("tiny"))._repr_html_()
    assert "Measured on CTC.<" in shown
    now[0] |= {"measured": "+7.0 %", "verdict": "agrees"}
    shown = ledger(now, kept.ledger_of("tiny"))._repr_html_()
    assert "Simulated just now on a stand-in, not the real log: CTC." in shown
    assert "just now, on stand-ins: +7.0 %, agrees" in shown
    assert shown.count("not the real log") == 1


@pytest.mark.parametrize("paper", [name for name in papers.PAPERS if name != "base"])
def test_what_a_paper_says_is_a_table(paper):
    said = claims_of(paper)
    assert all(name == claim.id and claim.where and claim.statement and claim.published for name, claim in said.items())
    assert len({claim.id[:3] for claim in said.values()}) == 1
    assert {name for name in kept.ledger_of(paper)["id"] if " to " not in name} == set(said)  # a log may be missing


def test_a_change_of_a_kernel_makes_stale_what_came_from_it(folder, figure, monkeypatch):
    sl.simulate(sl.model_trace("lublin", jobs=20, machine=16), "easy")
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
    monkeypatch.setattr(kept, "PACKAGE", tmp_path)
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
    assert kept._dumped(ast.parse(code)) == (  # ast.dump has more or fewer fields in each version
        "Module(body=[FunctionDef(name='f', args=arguments(args=[arg(arg='a')]), body=[Return(value=List(elts=["
        "Attribute(value=Name(id='a', ctx=Load()), attr='b', ctx=Load()), Constant()], ctx=Load()))])])"
    )


def test_the_full_size_stands_beside_this_run(folder):
    kept.keep("tiny", ledger(rows()), ledger(rows()), [], 1)
    now = [*rows()[:2], judged(Claim("A-3", "Figure 5", "D", "0.3 %"), Check("gain", exactly(4.0), "higher"), "KTH")]
    now[1] = now[1] | {"measured": "+7.0 %", "verdict": "does not agree", "reason": "Quick."}
    table = ledger(now, kept.ledger_of("tiny"))
    assert counted(table)["not reproduced"] == 1  # the full size counts
    shown = table._repr_html_()
    assert "full size: change: +5.0 %" in shown
    assert "just now: +7.0 %, does not agree</span>" in shown
    assert '<div class="quick">Just now, it does not agree. Quick.</div>' in shown  # below, where there is room
    assert 'just now, on KTH: gain: +4.0 % <span class="ends">[+3.0 to +5.0]</span>, reproduced' in shown
    assert shown.count("full size:") == 2  # a row with equal results is shown once
    assert summary(table)["measured"].tolist() == [row["measured"] for row in rows()]


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_kept_results_are_whole_and_as_the_kernels_are(paper):
    assert kept.made(paper), f"nothing is kept: schedlab figures {paper} --size full --keep"
    assert kept.made(paper)["size"] == "full"
    assert set(kept.ledger_of(paper)["verdict"]) <= set(VERDICTS)
    assert not kept.stale(paper), f"the kernels have changed: schedlab figures {paper} --size full --keep"


@pytest.mark.traces
@pytest.mark.parametrize("paper", ["base", "lelong2017"])  # all others where their notebooks run: test_notebooks.py
def test_what_a_quick_run_measures_is_what_is_kept(paper):
    expected = kept.ledger_of(paper, kept.QUICK)
    assert expected is not None, f"nothing is kept: schedlab figures {paper} --size full --keep"
    moved = kept.moved(expected, getattr(papers, paper).claims("quick", progress=False))
    assert not moved, "\n".join(moved)

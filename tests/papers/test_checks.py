"""The rule of the ledgers: how cases are judged together, and what follows for a claim."""

import numpy as np
import pandas as pd
import pytest
from measurements import exactly
from scipy import stats

from schedlab.papers import Check
from schedlab.schedule.statistics import t_beyond

SEEDS = 10


def runs(effects, seeds=SEEDS, spread=1.0, common=0.0, seed=1):
    """Return runs of cases with these true effects; the noise of a seed is partly common to all cases."""
    random = np.random.default_rng(seed)
    shared = random.normal(0, common, seeds) if common else np.zeros(seeds)
    rows = [
        (0.1 * place, seed, effect + shared[seed] + random.normal(0, spread))
        for place, effect in enumerate(effects, 1)
        for seed in range(seeds)
    ]
    return pd.DataFrame(rows, columns=["load", "seed", "value"])


# Cases


@pytest.mark.parametrize(
    ("expected", "bound", "noise", "condition", "outcome"),
    [
        ("lower", 0, 0, (-3, 2), "supports"),
        ("lower", 0, 0, (-3, 4), "open"),
        ("lower", 0, 0, (3, 4), "open"),
        ("lower", 0, 0, (3, 2), "contradicts"),
        ("lower", 0, 5, (-3, 1), "open"),  # clearly lower, but within the noise
        ("lower", 0, 5, (-7, 1), "supports"),
        ("lower", 0, 5, (7, 1), "contradicts"),
        ("lower", 0, 5, (-7, 3), "open"),
        ("lower", 10, 0, (8, 1), "supports"),
        ("higher", 0, 0, (3, 2), "supports"),
        ("higher", 1, 0, (0.5, 0.1), "contradicts"),
        ("higher", 1, 0, (1.5, 0.6), "open"),
        ("not lower", -4, 0, (-1, 2), "supports"),
        ("not lower", -4, 0, (-3, 6), "open"),
        ("not lower", -4, 0, (-6, 1), "contradicts"),
        ("not lower", 0, 1, (-0.4, 0.5), "supports"),
        ("not lower", 0, 1, (-0.4, 1.5), "open"),
        ("not lower", 0, 1, (-2, 0.9), "contradicts"),
        ("not higher", 4, 0, (5, 0.5), "contradicts"),
        ("not higher", 4, 0, (5, 2), "open"),
        ("within", (1.8, 2.2), 0, (2, 0.1), "supports"),
        ("within", (1.8, 2.2), 0, (1.65, 0.1), "contradicts"),
        ("within", (1.8, 2.2), 0, (1.65, 0.3), "open"),
        ("within", (1.8, 2.2), 0, (2, 1), "open"),
        ("within", (1.8, 2.2), 0.2, (2.3, 0.05), "supports"),
        ("is", 60, 0, (64.5, 8), "supports"),
        ("is", 60, 0, (64.5, 4), "contradicts"),
    ],
)
def test_a_condition_supports_contradicts_or_is_open(expected, bound, noise, condition, outcome):
    check = Check("it", exactly(condition), expected, bound, noise)
    assert check.conditions["outcome"].tolist() == [outcome]
    low, high = check.conditions[["low", "high"]].to_numpy()[0]
    assert (low, high) == pytest.approx((condition[0] - condition[1], condition[0] + condition[1]))


def test_a_single_run_decides_nothing():
    check = Check("it", exactly(-3)[:1], "lower")
    assert check.conditions["outcome"].tolist() == ["open"]
    assert check.outcome == "undecided"
    assert Check("it", exactly(60).assign(value=60)[:1], "is", 60).outcome == "undecided"


def test_runs_that_never_differ_are_certain():
    check = Check("it", exactly(0.25, half=0), "within", (0.25, 0.3))
    assert check.outcome == "undecided"  # it lies on the bound
    assert Check("it", exactly(0.0, half=0), "within", (0.25, 0.3)).outcome == "fails"
    assert Check("it", exactly(-1.0, half=0), "lower").outcome == "holds"


def test_joint_intervals_are_those_of_holm():
    check = Check("it", runs([-3, -0.5, 0.2, 1]), "lower")
    values = check.runs.pivot_table("value", "seed", "load")
    family = [*(values[load] for load in values), values.mean(axis=1)]
    p = np.array([stats.ttest_1samp(each, 0).pvalue for each in family])
    order, certain, left = np.argsort(p), [], len(p)
    for place in order:
        if p[place] > 0.05 / left:
            break
        certain.append(place)
        left -= 1
    outcomes = [*check.conditions["outcome"], check.pooled["outcome"]]
    assert [place for place in range(5) if outcomes[place] != "open"] == sorted(certain)
    level = 0.05 / 5
    low, high = stats.t.interval(1 - level, SEEDS - 1, family[0].mean(), stats.sem(family[0]))
    assert check.conditions.loc[0, ["low", "high"]].tolist() == pytest.approx([low, high])


@pytest.mark.parametrize(("t", "df"), [(0, 1), (0.5, 1), (2.0, 2), (2.776, 4), (12.0, 9), (np.inf, 5)])
def test_what_lies_beyond(t, df):
    assert t_beyond(t, df) == pytest.approx(2 * stats.t.sf(t, df), abs=1e-12)


def test_logarithms_are_shown_as_percent():
    rows = exactly(np.log(0.8), half=0.01).assign(log="CTC")
    check = Check("change", rows, "lower", noise=5, logarithms=True)
    assert check.outcome == "holds"
    assert check.effect == "-20.0 % [-20.8 to -19.2]"
    assert Check("change", rows, "lower", noise=25, logarithms=True).outcome == "undecided"


# Checks


@pytest.mark.parametrize(
    ("effects", "expected", "outcome"),
    [
        ([-3, -3, -3], "lower", "holds"),  # it is there
        ([-3, 0, 0], "lower", "holds"),  # somewhere, and on average
        ([0, 0, 0], "lower", "undecided"),  # it is absent
        ([3, 3, 3], "lower", "fails"),  # it is reversed
        ([-3, -3, 3, 3], "lower", "mixed"),  # by region
        ([-3, 0, 0, 3], "lower", "mixed"),
        ([-9, 3, 3], "lower", "mixed"),
        ([-3, 9, 9, 9], "lower", "fails"),  # on average it is reversed
        ([0, 0, 3], "lower", "fails"),
        ([-3, -3, -3], "within", "fails"),
        ([1, 1.1, 0.9], "within", "holds"),
        ([1, 5, 1], "within", "mixed"),
        ([1, 9, 1], "within", "fails"),
    ],
)
def test_what_a_statistician_would_say(effects, expected, outcome):
    bound = (-1, 3) if expected == "within" else 0
    assert Check("it", runs(effects), expected, bound).outcome == outcome
    assert Check("it", runs(effects, common=0.3, seed=2), expected, bound).outcome == outcome


@pytest.mark.parametrize(
    ("effects", "settings", "first", "last"),
    [
        ([-3, 9, 9], {}, "1 of 3 cases supports it, 2 contradict it (", "The effect over all cases contradicts it."),
        (
            [0.45] * 8,
            {"spread": 0.8, "seed": 7},
            "The intervals of all 8",
            "over all cases contradicts it.",
        ),
        (
            [-0.6, 0, 0, 0],
            {"spread": 0.5, "seed": 1},
            "1 of 4 cases supports it, 3",
            "over all cases is open.",
        ),
        ([-3, -9], {}, "", ""),
    ],
)
def test_it_is_said_where_the_effect_over_all_conditions_decides(effects, settings, first, last):
    where = Check("it", runs(effects, **settings), "lower").where
    assert where.startswith(first)
    assert where.endswith(last)
    assert bool(where) == bool(first)


def test_conditions_without_common_seeds_have_no_common_effect():
    table = runs([-3, -3])
    condition = table[next(name for name in table if name not in ("seed", "value"))]
    check = Check("it", table[(table["seed"] % 2 == 0) == (condition == condition.iloc[0])], "lower")
    assert (check.outcome, check.where) == ("undecided", "The cases have too few seeds in common.")


@pytest.mark.parametrize(
    ("conditions", "seeds", "every", "common"), [(1, 10, False, 0), (4, 5, True, 0), (12, 10, False, 3)]
)
def test_of_no_effect_at_most_one_verdict_in_twenty_is_wrong(conditions, seeds, every, common):
    tables = (runs([0] * conditions, seeds, common=common, seed=seed) for seed in range(150))
    wrong = sum(Check("it", table, "lower", every=every).outcome != "undecided" for table in tables)
    assert wrong <= 150 * 0.05 + 2 * np.sqrt(150 * 0.05 * 0.95)


def test_what_is_so_in_every_condition_holds_if_none_contradicts():
    check = Check("it", runs([-0.7] * 8, spread=0.8), "lower", every=True)
    assert set(check.conditions["outcome"]) == {"supports", "open"}
    assert check.outcome == "holds"
    assert check.where == "7 of 8 cases support it, 1 is open."
    all_open = Check("it", runs([-0.35] * 8, spread=0.8, seed=2), "lower", every=True)
    assert (set(all_open.conditions["outcome"]), all_open.outcome) == ({"open"}, "holds")
    assert Check("it", all_open.runs, "lower").outcome == "undecided"
    assert Check("it", runs([-0.7] * 7 + [3], spread=0.8), "lower", every=True).outcome == "mixed"


def test_published_numbers_are_met_or_differ_by_a_factor():
    jobs = exactly(64.5, half=8, what="jobs", published=60, form="{:.1f} jobs")
    use = exactly(0.46, half=0.01, what="utilization", published=0.42, form="{:.2f}")
    rows = pd.concat([jobs, use]).drop(columns="load")
    check = Check("IO, 8 PEs", rows, "is", "published", form="form")
    assert check.outcome == "mixed"
    assert check.effect == "64.5 jobs [56.5 to 72.5] (jobs); 0.46 [0.45 to 0.47] (utilization)"
    assert "0.46 [0.45 to 0.47] (utilization), 1.1 times the published 0.42" in check.where
    table = check.table()
    assert table["expected"].tolist() == ["60.0 jobs", "0.42", ""]
    assert table["outcome"].tolist() == ["supports", "contradicts", "mixed"]


def test_the_interval_of_a_single_run_is_wider():
    rows = exactly(70, half=4)
    assert Check("best", rows, "is", 76).outcome == "fails"
    assert Check("best", rows, "is", 76, single=True).outcome == "holds"


def test_a_check_says_where_it_does_not_hold():
    check = Check("it", exactly(-8, -8, 8, half=0.5), "lower")
    assert check.where == "2 of 3 cases support it, 1 contradicts it (+8.0 % [+7.3 to +8.7] (load 0.3))."
    assert Check("it", exactly(-8, half=0.5), "lower").where == ""
    assert Check("it", exactly(1, 1, half=8), "lower").where == "The intervals of all 2 cases allow both."


def test_what_is_not_nothing_is_not_written_as_nothing():
    assert Check("it", exactly((-0.002, 0.04)), "lower").written(0) == "-0.002 % [-0.04 to +0.04]"


def test_a_check_refuses_what_it_cannot_judge():
    with pytest.raises(ValueError, match="unknown expectation 'faster'; known: lower, higher, not lower"):
        Check("it", exactly(1), "faster")
    with pytest.raises(ValueError, match="the runs of 'it' have no column 'seed'"):
        Check("it", exactly(1).drop(columns="seed"), "lower")
    with pytest.raises(ValueError, match="the runs of 'it' have two values of a case and seed: row 4"):
        Check("it", pd.concat([exactly(1)] * 2), "lower")


def test_a_run_without_a_value_does_not_count():
    rows = exactly(-1, -1)
    rows.loc[rows["load"] > 0.15, "value"] = np.nan
    assert len(Check("it", rows, "lower").conditions) == 1
    assert Check("it", rows.assign(value=np.nan), "lower").outcome == "undecided"

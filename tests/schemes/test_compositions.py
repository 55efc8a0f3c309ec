"""What can be combined: the table against simulations of every combination."""

import re

import pytest

import schedlab as sl
from schedlab.machine import KaryTree
from schedlab.schemes.composing import CONDITIONS, SCHEMES, YES, in_order, small


@pytest.fixture(scope="module")
def table():
    return sl.compositions()


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_what_goes_can_be_simulated_and_what_does_not_is_refused_in_these_words(table, scheme):
    for condition, settings in CONDITIONS.items():
        said, settings = table.loc[str(scheme), condition], dict(settings)
        order = settings.pop("order", None)
        if said == YES:
            chosen = scheme if order is None else in_order(scheme, order)
            schedule = sl.simulate(small(chosen.needs), chosen, **settings).validate()
            assert len(schedule) == 12
        elif order is None:
            with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
                sl.simulate(small(scheme.needs), scheme, **settings)
        else:
            assert not hasattr(scheme, "order")


def test_the_natural_ones_go(table):
    """Rigid schemes run on the nodes of a tree, except for unbounded searches, k reservations and a second order."""
    blocks = table["tree, nodes of one block"].eq(YES)
    others = {"EASY-SJBF", "EASY (4 reservations)", "EASY (all reservations)", "DPSAn (objective slowdown)"}
    others |= {"DPSAp", "DPSAn", "DPSAw", "Flooding", "Flooding (conservative)", "OJS", "OJS (conservative)"}
    assert set(table.index[~blocks]) == others | {"Fair share (ObF 1, EF 0)", "Greedy", "Iterative"}
    assert table.loc[["Flooding (conservative)", "OJS (conservative)"], "estimates extended"].eq(YES).all()


def test_every_no_says_what_to_do_instead_or_who_can(table):
    ways = "place jobs on nodes|simulate several resources|is for |leave out|order of the queue|batched|bound|pieces"
    for said in set(table.to_numpy().ravel()) - {YES}:
        assert re.search(f"{ways}|no ord", said)


def test_a_scheme_of_ones_own_is_asked_too():
    class Mine(sl.EASY):
        machines = (KaryTree,)

    row = sl.compositions([Mine()]).iloc[0]
    assert row["tree, nodes anywhere"] == YES
    assert "cannot run on" in row["estimates extended"]


class Plain(sl.Scheme):
    """A scheme without settings that is not a dataclass."""

    def simulate(self, case):
        return sl.FCFS().simulate(case)


def test_one_scheme_will_do_and_need_not_be_a_dataclass():
    assert sl.compositions("easy").index.tolist() == ["EASY"]
    row = sl.compositions(Plain()).iloc[0]
    assert row["estimates extended"] == YES
    assert row["shortest first"] == "Plain has no order to choose"


def test_orders_of_users_go():
    assert sl.compositions(["easy-fairshare", "conservative-multifactor"])["tree, nodes of one block"].eq(YES).all()
    schedule = sl.simulate(small(None), "easy-fairshare")
    assert len(schedule.validate()) == 12


def test_what_happened_goes_with_nothing_else():
    with pytest.raises(ValueError, match="is the recorded schedule, on its own machine"):
        sl.compositions("log")


def test_the_picture_has_a_mark_for_each_answer_and_the_reason_of_each_cross(table):
    (cells,) = sl.charts.compositions(table).to_dict()["datasets"].values()
    assert len(cells) == table.size
    for cell in cells:
        assert cell["answer"] == table.loc[cell["scheme"], cell["option"]]
        assert (cell["mark"] == "supported") == (cell["answer"] == YES)

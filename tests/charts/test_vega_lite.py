"""The quick check of charts agrees with that of jsonschema, and quick copies with those of Altair."""

import altair as alt
import pandas as pd
import pytest
import vega_lite
from altair.utils import schemapi
from altair.vegalite.v6.schema.core import load_schema

pytestmark = pytest.mark.tables

SCHEMA = load_schema()
TOP = {"$ref": "#/definitions/TopLevelSpec"}
TABLE = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})


def drawn():
    points = alt.Chart(TABLE).mark_point(size=3).encode(x=alt.X("a:Q", axis=alt.Axis(title="A")), color="b:N")
    return alt.vconcat(points | points.mark_line(), points + points.mark_rule())


def chart():
    return drawn().to_dict()


def point(spec):
    return spec["vconcat"][0]["hconcat"][0]


def test_a_right_chart_is_valid():
    assert vega_lite.is_valid(chart(), TOP, SCHEMA)
    assert not vega_lite.checked_in_full(chart(), TOP, SCHEMA)


@pytest.mark.parametrize(
    "change",
    [
        lambda spec: spec.update(nonsense=1),
        lambda spec: spec["vconcat"].append(3),
        lambda spec: point(spec)["mark"].update(type="poin"),
        lambda spec: point(spec)["mark"].update(size="large"),
        lambda spec: point(spec)["encoding"].update(z={"field": "a"}),
        lambda spec: point(spec)["encoding"]["x"].update(type="q"),
        lambda spec: point(spec)["encoding"]["x"]["axis"].update(titel="A"),
        lambda spec: point(spec)["encoding"]["x"].update(scale={"type": "logg"}),
        lambda spec: point(spec).pop("mark"),
    ],
)
def test_a_wrong_chart_is_told_as_jsonschema_tells_it(change):
    vega_lite.is_valid(chart(), TOP, SCHEMA)  # whose parts are known to be right
    spec = chart()
    change(spec)
    assert not vega_lite.is_valid(spec, TOP, SCHEMA)
    told = [error.message for error in vega_lite.errors(spec, TOP, SCHEMA)]
    assert told == [error.message for error in vega_lite.checked_in_full(spec, TOP, SCHEMA)]
    assert told


def test_altair_checks_so():
    with pytest.raises(schemapi.SchemaValidationError, match="sise"):
        alt.Chart(TABLE).mark_point(sise=3)
    assert schemapi._get_errors_from_spec is vega_lite.errors
    assert schemapi._deep_copy is vega_lite.copied


def parts(part):
    yield part
    if isinstance(part, schemapi.SchemaBase):
        part = [*part._args, *part._kwds.values()]
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from parts(inner)


@pytest.mark.parametrize("by_ref", [set(), {"encoding", "text"}])
def test_a_copy_shares_with_its_original_what_a_copy_of_altair_shares(monkeypatch, by_ref):
    bars = alt.Chart(TABLE).mark_bar().encode(x="a:Q").add_params(alt.selection_point(name="chosen"))
    bars = bars.properties(title={"text": alt.core.Text(["A", "B"])})
    for original in (bars, (drawn() & bars.facet("b:N")).add_params(alt.param(value=[1, 2]))):
        known = {id(part) for part in parts(original)}
        copies, shared = [], []
        for copy in (vega_lite.copied, vega_lite.copied_in_full):
            monkeypatch.setattr(schemapi, "_deep_copy", copy)
            copies.append(copy(original, by_ref))
            shared.append([(type(part), id(part) in known) for part in parts(copies[-1])])
        assert shared[0] == shared[1]
        assert (dict, False) in shared[0]
        assert copies[0].to_dict() == copies[1].to_dict() == original.to_dict()

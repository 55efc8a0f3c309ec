"""The quick check of charts agrees with that of jsonschema."""

import altair as alt
import pandas as pd
import pytest
import vega_lite
from altair.vegalite.v6.schema.core import load_schema

pytestmark = pytest.mark.tables

SCHEMA = load_schema()
TOP = {"$ref": "#/definitions/TopLevelSpec"}
TABLE = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})


def chart():
    points = alt.Chart(TABLE).mark_point(size=3).encode(x=alt.X("a:Q", axis=alt.Axis(title="A")), color="b:N")
    return alt.vconcat(points | points.mark_line(), points + points.mark_rule()).to_dict()


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
    with pytest.raises(alt.utils.schemapi.SchemaValidationError, match="sise"):
        alt.Chart(TABLE).mark_point(sise=3)
    assert alt.utils.schemapi._get_errors_from_spec is vega_lite.errors

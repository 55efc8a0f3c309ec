"""Overlays for lines and bars: intervals, ranges of other quantities, published numbers, and runs made just now."""

import json

import numpy as np
import pandas as pd

from ._altair import alt
from .axes import IN_HOURS
from .checks import check, check_columns, check_kind, check_names, check_numbers
from .palette import INK

PUBLISHED = "published"  # the word in the legend, and the column of the numbers
RING = "just now"  # the column of what was simulated just now
FAR = 1.0  # an interval that exceeds the extent of the values by more than this many times is cut off
ROUNDED = 1e-9  # relative; a computed interval may miss its value by this much
DASH = [6, 3]  # of a published number that is drawn across the whole width, unlike the line at zero
EDGE = 1.5  # line width for ranges and published numbers, in pixels
BOX = 8  # the width of a range
PALE = 0.3  # its opacity
CAP = {"size": BOX**2, "opacity": 1, "strokeWidth": EDGE}  # its ends
# A published number.
DIAMOND = {"shape": "diamond", "fill": "transparent", "size": 80, "opacity": 1, "strokeWidth": EDGE}
CIRCLE = {"shape": "circle", "fill": "transparent", "size": 90, "opacity": 1, "strokeWidth": EDGE}
GREY = "#808080"  # of ranges


class Rows:
    """The rows that a chart draws, `shown`, and the names of those of their columns that are overlays.

    They are made from the columns of a table with numbers and with names (`others`). The `interval` of a measure is
    between ``{measure}_low`` and ``{measure}_high``, the `spread` of another quantity between ``{measure}_range_low``
    and ``{measure}_range_high``; `ends` names the column by which each end is drawn, cut off if it reaches too far.
    `published` numbers and `rings`, which were simulated just now, are rows of their own. `keys` are the columns that
    say where a published number belongs.
    """

    def __init__(self, table, numbers, measure, others):
        check_kind(table, pd.DataFrame)
        check_names([*numbers, measure, *others])
        pairs = [[f"{measure}_low", f"{measure}_high"], [f"{measure}_range_low", f"{measure}_range_high"]]
        self.interval, self.spread = (pair if self._has(table, pair) else [] for pair in pairs)
        self.measure, self.ends = measure, {name: name for name in (*self.interval, *self.spread)}
        self.published, self.keys, self.rings = [], set(), []
        names = list(dict.fromkeys((*numbers, *self.ends, *others)))
        check(table, names)
        check_numbers(table, [*numbers, *self.ends])
        self.shown = table[names].reset_index(drop=True)
        for pair in filter(None, (self.interval, self.spread)):
            pair_of = self.shown[pair].astype(float)
            self.shown[pair] = pair_of.mask(pair_of.isna().any(axis=1), np.nan)  # half an interval counts as none

    @staticmethod
    def _has(table, pair):
        """Tell whether a table has an interval in any row: an empty layer would have no axis."""
        return set(pair) <= set(table.columns) and table[pair].notna().all(axis=1).any()

    @property
    def cut(self) -> bool:
        """Whether an interval or range is cut off."""
        return any(name != drawn for name, drawn in self.ends.items())

    def drawn(self, names) -> list[str]:
        """Return the columns by which to draw the ends."""
        return [self.ends[name] for name in names]

    def values(self, y, of=slice(None)) -> pd.Series:
        """Return all numbers along the measured axis, or those of some rows."""
        names = (y, *self.ends.values(), *self.published, *self.rings)
        return pd.concat([self.shown.loc[of, name] for name in names], ignore_index=True)

    def in_hours(self, *measures: str) -> None:
        """Turn seconds into hours, in the measures that are drawn in hours, with what belongs to them."""
        for name in IN_HOURS.intersection(measures):
            others = self.interval + self.spread + self.published + self.rings
            of = [name, *(others if name == self.measure else ())]
            self.shown[of] = self.shown[of] / 3600

    def contain(self, y):
        """Raise if an interval does not contain its value."""
        if not self.interval:
            return
        value, low, high = (self.shown[name].astype(float) for name in (y, *self.interval))
        slack = ROUNDED * np.maximum(value.abs(), 1)
        bad = self.shown.loc[(value < low - slack) | (value > high + slack), [y, *self.interval]]
        if len(bad):
            value, low, high = (f"{number:.4g}" for number in bad.iloc[0])
            name = self.interval[0].removesuffix("_low")
            raise ValueError(
                f"{y} is {value}, outside its interval {name}_low to {name}_high, {low} to {high}; "
                f"name a range of another quantity {name}_range_low and {name}_range_high"
            )

    def overlay(self, y, measure, published, rings, x, color, dash=None, panel=None):
        """Check the intervals of y; append published numbers and what was simulated just now, where they are given."""
        self.contain(y)
        if published is not None:
            self.publish(published, measure, x, color, panel=panel)
        if rings is not None:
            self.ring(rings, measure, x, color, dash, panel)

    def publish(self, published, measure, x, *named, panel=None):
        """Append published numbers to the rows.

        They have ``measure``, or ``{measure}_low`` and ``{measure}_high``, or all three; and the columns that say where
        they belong. Values in the columns `named`, and in that of the panels, must also occur in the table. Numbers
        without a panel belong to every one.
        """
        check_kind(published, pd.DataFrame)
        columns = {f"{measure}{end}": f"{PUBLISHED}{end}" for end in ("", "_low", "_high")}
        numbers = [name for name in columns if name in published.columns]
        if measure not in numbers and len(numbers) < 2:
            check_columns(published, [measure])
        check_numbers(published, numbers)
        named = list(dict.fromkeys(filter(None, (*named, panel))))
        keys = [key for key in dict.fromkeys((x, *named)) if key in published.columns]
        rows = published[keys + numbers].astype(dict.fromkeys(numbers, float)).rename(columns=columns)
        for key in named:
            known = list(dict.fromkeys(self.shown[key]))
            if key in keys:
                rows[key] = [str(value) for value in rows[key]]
                strange = [value for value in rows[key] if value not in known]
                if strange:
                    raise ValueError(f"published has {key} {strange[0]!r}, the table has only: {', '.join(known)}")
            elif key == panel:
                rows = rows.merge(pd.DataFrame({key: known}), how="cross")
        self.published, self.keys = [columns[name] for name in numbers], set(keys)
        self.shown = pd.concat([self.shown, rows], ignore_index=True)

    def ring(self, rings, measure, x, *named):
        """Append what was simulated just now to the rows: a table like the first, with the measure only.

        Rows of names that the table does not have, such as a scheme that is not drawn, are left out.
        """
        check_kind(rings, pd.DataFrame)
        keys = list(dict.fromkeys(filter(None, (x, *named))))
        check(rings, [*keys, measure])
        rows = rings[[*keys, measure]].rename(columns={measure: RING}).dropna(subset=RING)
        for key in filter(None, named if pd.api.types.is_numeric_dtype(self.shown[x]) else (x, *named)):
            rows = rows.assign(**{key: rows[key].map(str)})
            rows = rows[rows[key].isin(self.shown[key].unique())]
        if len(rows):
            self.rings = [RING]
            self.shown = pd.concat([self.shown, rows], ignore_index=True)

    def cut_off(self, y, *, log=False, baseline=(), panel=None):
        """Cut off intervals and ranges, in separate columns, if they would flatten everything else in their panel.

        Panels have their own scales, so each is treated separately.
        """
        values = self.shown[[y, *(name for name in self.published if name == PUBLISHED)]].astype(float)
        values = values.where(np.isfinite(values) & ((values > 0) | (not log)))
        values = np.log(values) if log else values
        grouped = self.shown[panel].to_numpy() if panel else np.zeros(len(values))
        low, high = (values.agg(how, axis=1).groupby(grouped).transform(how) for how in ("min", "max"))
        if len(baseline):
            low, high = low.clip(upper=min(baseline)), high.clip(lower=max(baseline))
        reach = (FAR * (high - low)).replace(0, np.inf)
        limits = [low - reach, high + reach]
        if log:
            limits = [np.exp(limit) for limit in limits]
        for name in self.ends:
            drawn = self.shown[name].clip(*limits)
            if not drawn.equals(self.shown[name]):
                self.ends[name] = f"{name}_drawn"
                self.shown[self.ends[name]] = drawn

    def tips(self, unit: str, form: str, label: str) -> list[alt.Tooltip]:
        """Return the tooltips of interval and range, with their true ends."""
        titles = {name: name.rpartition("_")[2] + unit for name in self.interval}
        titles |= {name: f"{label}, {name.rpartition('_')[2]}{unit}" for name in self.spread}
        return [alt.Tooltip(f"{name}:Q", title=title, format=form) for name, title in titles.items()]

    def published_tips(self, keys: list, measure: str, form: str) -> list:
        """Return the tooltips of published numbers: where they belong, and their values."""
        ends = {name: name.removeprefix(PUBLISHED).replace("_", ", ") for name in self.published}
        titles = {name: f"{PUBLISHED}{end}: {measure}" for name, end in ends.items()}
        return [*keys, *(alt.Tooltip(f"{name}:Q", title=title, format=form) for name, title in titles.items())]


# -- layers ----------------------------------------------------------------------------------------------


def having(*names: str) -> alt.Chart:
    """Begin a layer of the rows that have values in all given columns."""
    return alt.Chart().transform_filter(" && ".join(f"isValid(datum[{json.dumps(name)}])" for name in names))


def across(name: str, like: alt.X | alt.Y, **settings) -> alt.X | alt.Y:
    """Encode another column along the same axis."""
    shared = {key: like[key] for key in ("title", "scale", "axis") if like[key] is not alt.Undefined}
    return type(like)(f"{name}:Q", **shared, **settings)


def interval_layers(rows: Rows, y: alt.Y, **where) -> list[alt.Chart]:
    """Draw the interval as a rule, and arrows where it is cut."""
    if not rows.interval:
        return []
    low, high = rows.drawn(rows.interval)
    rule = having(low, high).mark_rule(color=INK, strokeWidth=EDGE)
    return [rule.encode(y=across(low, y), y2=alt.Y2(high), **where), *_arrows(rows, rows.interval, y, **where)]


def range_layers(rows: Rows, label: str, y: alt.Y, **where) -> list[alt.Chart]:
    """Draw the range of another quantity as a narrow pale box, with its own entry in the legend."""
    if not rows.spread:
        return []
    ends = rows.drawn(rows.spread)
    shape = alt.Shape(
        "around:N",
        title=None,
        scale={"domain": [label], "range": ["stroke"]},
        legend={"orient": "bottom", "symbolStrokeColor": GREY, "symbolStrokeWidth": EDGE, "labelLimit": 400},
    )
    caps = having(*ends).transform_calculate(around=json.dumps(label)).mark_point(color=GREY, **CAP)
    layers = [caps.encode(y=across(end, y), shape=shape, **where) for end in ends]
    return [_box(ends, GREY, y, **where), *layers, *_arrows(rows, rows.spread, y, **where)]


def _box(ends, colour, y, **where):
    """Draw a pale box between two ends; what lies on it stays readable in either theme."""
    box = having(*ends).mark_rule(color=colour, strokeWidth=BOX, opacity=PALE)
    return box.encode(y=across(ends[0], y), y2=alt.Y2(ends[1]), **where)


def _arrows(rows, names, y, **where):
    """Draw arrows that point outwards where intervals are cut off."""
    layers = []
    for name, shape in zip(names, ("triangle-down", "triangle-up"), strict=True):
        drawn = rows.ends[name]
        if drawn != name:
            cut = having(drawn).transform_filter(f"datum[{json.dumps(name)}] !== datum[{json.dumps(drawn)}]")
            mark = cut.mark_point(shape=shape, color=INK, filled=True, size=45, opacity=1)
            layers.append(mark.encode(y=across(drawn, y), **where))
    return layers


def ring_layers(rows: Rows, y: alt.Y, tooltip: list, measure: str, form: str, colour=None, **where) -> list[alt.Chart]:
    """Draw what was simulated just now as rings, in the colours of the schemes or in ink."""
    if not rows.rings:
        return []
    tooltip = [*tooltip, alt.Tooltip(f"{RING}:Q", title=f"{RING}: {measure}", format=form)]
    colour = alt.value(INK) if colour is None else colour  # of the outline, since the mark is not filled
    mark = having(RING).mark_point(filled=False, **CIRCLE)
    return [mark.encode(y=across(RING, y), color=colour, tooltip=tooltip, **where)]


def published_layers(rows: Rows, y: alt.Y, tooltip: list, **where) -> tuple[list[alt.Chart], list[alt.Chart]]:
    """Draw published ranges as narrow boxes and numbers as hollow diamonds, in ink.

    Without a place along the other axis (`where`), a number is drawn across the whole width as a dashed rule, a range
    as a band. Ranges and numbers are returned apart, since other layers are between them.
    """
    numbers, ends = PUBLISHED in rows.published, [name for name in rows.published if name != PUBLISHED]
    legend = {"orient": "bottom", "symbolType": "diamond" if numbers and where else "stroke", "symbolOpacity": 1}
    legend |= {"symbolSize": DIAMOND["size"], "symbolFillColor": DIAMOND["fill"], "symbolStrokeWidth": EDGE}
    legend |= {"symbolDash": DASH} if numbers and not where else {}
    scale = {"domain": [PUBLISHED], "range": [INK]}
    drawn = {"stroke": alt.Stroke("source:N", title=None, scale=scale, legend=legend), "tooltip": tooltip, **where}

    def known(*names):
        return having(*names).transform_calculate(source=json.dumps(PUBLISHED))

    under, over = [], []
    if ends and where:
        caps = known(*ends).mark_point(shape="stroke", **CAP)
        under = [_box(ends, INK, y, **where), *(caps.encode(y=across(end, y), **drawn) for end in ends)]
    elif ends:
        band = known(*ends).mark_rect(fill=INK, fillOpacity=0.08, strokeWidth=1)
        under = [band.encode(y=across(ends[0], y), y2=alt.Y2(ends[1]), **drawn)]
    if numbers:
        base = known(PUBLISHED)
        mark = base.mark_point(**DIAMOND) if where else base.mark_rule(strokeWidth=EDGE, strokeDash=DASH)
        over = [mark.encode(y=across(PUBLISHED, y), **drawn)]
    return under, over

"""How a ledger is displayed: as HTML with filters by verdict, as lines for a terminal, as JSON and Markdown.

A ledger is a table with a row a claim, as `schedlab.papers.ledger` makes it; the columns that begin with "kept" are of
the full size.
"""

import json
import re
from collections import Counter
from zlib import crc32

import pandas as pd

from .page import interval, text_beside
from .reading import in_html, readable
from .reading import reason as readable_reason

KEPT = ("kept", *(f"kept_{name}" for name in ("trace", "verdict", "reason", "readings", "details", "conditions")))
SAID = ("id", "where", "statement", "published", "tolerance")
MEASURED = ("measured", "trace", "verdict", "reason", "readings", "details", "conditions")
LEDGER = (*SAID, *MEASURED, "doi")
VALUES = ["value", "low", "high"]  # of a condition
SAME = ["id", "statement", "trace"]  # what tells rows apart
NUMBERS = ("mean", "spread", "seeds")  # of single runs; logarithms where the check is about ratios
TOLD = ("check", "condition", "measured", "expected", "outcome")  # of a condition, as it is shown
HEADINGS = ("check", "case", *TOLD[2:])  # readers know a condition as a case
CONDITION = (*TOLD, *NUMBERS)
TOGETHER, SINGLE = "all cases together", "all runs"  # names of conditions: of several and of one alone
# Both background and text colours, so that verdicts are readable in a dark notebook, too.
VERDICTS = {
    "reproduced": "background-color: #d3efe3; color: #00452f",
    "in part": "background-color: #fdeecb; color: #5c3d00",
    "not reproduced": "background-color: #fbdcd5; color: #7a1a12",
    "undecided": "background-color: #d9e6f5; color: #133a66",
    "cannot be tested": "background-color: #e4e4e4; color: #333333",
}
# The order in which a reader looks for them: what does not hold, and why, before what does.
FAILURES_FIRST = ("not reproduced", "in part", "undecided", "cannot be tested", "reproduced")
AGREEMENTS = ("agrees", "does not agree", "")  # of a quick run with the full size; "" if no condition is common to both
STYLE = text_beside(__file__, "ledger.css")
# A colour and a shape for each verdict, so that they can be told apart without colour; each is readable on its page.
SHAPES = dict(zip(VERDICTS, ("●", "◐", "✕", "?", "□"), strict=True))
COLOURS = dict(zip(VERDICTS, ("yes", "part", "no", "open", "open"), strict=True))
_PLACES = ":is(.schedlab-card, .schedlab-wall, .schedlab-ledger)"
_LIGHT = "{ --yes: #0a7d5a; --part: #8f6000; --no: #b42318; --open: #5c6675; }"
_DARK = "{ --yes: #4cc38a; --part: #e2b340; --no: #ff8d7d; --open: #a3adba; }"
VERDICT_STYLE = f"""
{_PLACES} {_LIGHT}
@media (prefers-color-scheme: dark) {{ {_PLACES} {_DARK} }}
body[data-jp-theme-light="true"] {_PLACES}, html[data-theme="light"] {_PLACES} {_LIGHT}
body[data-jp-theme-light="false"] {_PLACES}, html[data-theme="dark"] {_PLACES} {_DARK}
.schedlab-badge {{ font-size: .87em; font-weight: 600; border: 1.5px solid currentColor; border-radius: 99px;
  padding: .05em .7em; white-space: nowrap; display: inline-block; }}
.schedlab-yes {{ color: var(--yes); }} .schedlab-part {{ color: var(--part); }} .schedlab-no {{ color: var(--no); }}
.schedlab-open {{ color: var(--open); }}
"""
STANDIN = re.compile(r",? ?\(stand-in[^)]*\)")
SHOWN = ("id", "what the paper says", "published", "measured", "verdict")


class Ledger(pd.DataFrame):
    """A ledger: a table that displays itself behind a fold, with filters by verdict, and with conditions behind a fold.

    If a quick run does not agree with the kept full size, the fold is open.
    """

    @property
    def _constructor(self):
        return Ledger

    def _repr_html_(self):
        return folded(self) if set(LEDGER) <= set(self.columns) else super()._repr_html_()


def standing(table: pd.DataFrame) -> pd.Series:
    """Return the verdict of each row: that of the kept full size, else that of this run; "" for a quick run alone."""
    verdicts = table["verdict"].where(table["verdict"].isin(VERDICTS), "")
    return table["kept_verdict"].fillna(verdicts) if "kept_verdict" in table else verdicts


def in_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return a ledger with its texts as people read them; those that say nothing of numbers stay as they are."""
    columns = {
        **dict.fromkeys(("statement", "published", "measured", "kept"), readable),
        **dict.fromkeys(("reason", "kept_reason"), readable_reason),
        **dict.fromkeys(("conditions", "kept_conditions"), _read_conditions),
    }
    return table.assign(
        **{name: table[name].map(read, na_action="ignore") for name, read in columns.items() if name in table}
    )


def _read_conditions(conditions):
    rows = [row | {name: readable(row[name]) for name in TOLD} for row in conditions]
    for row in rows:
        if row["condition"] == TOGETHER and not row["measured"]:  # each is compared with a published number of its own
            row |= {"measured": "not averaged", "expected": "as published"}
    return rows


def counted(table: pd.DataFrame) -> dict[str, int]:
    """Count the rows by their verdicts, in the order of `VERDICTS`."""
    counts = standing(table).value_counts()
    return {verdict: int(counts.get(verdict, 0)) for verdict in VERDICTS}


def as_html(table: pd.DataFrame, most: int | None = None) -> str:
    """Write a ledger as HTML without a script: filters by verdict, and for each claim a row, its reason and a fold.

    Claims that are not reproduced come first. Sentences of the details that most claims share stand once, above. Behind
    the fold are details, traces and all conditions, or at most so many: the effect over all, then those that do not
    support it, then others.
    """
    ranks = standing(table).map((*FAILURES_FIRST, "").index)
    table = in_words(table).iloc[ranks.argsort(kind="stable")]
    verdicts = standing(table)
    key = f"l{crc32(table[['id', 'measured']].to_csv().encode()):08x}"
    present = [verdict for verdict in FAILURES_FIRST if (verdicts == verdict).any()]
    filters, rules = [], []
    for number, verdict in enumerate(["all", *present]):
        count = len(table) if verdict == "all" else (verdicts == verdict).sum()
        checked = " checked" if verdict == "all" else ""
        filters.append(
            f'<input type="radio" name="{key}" id="{key}-{number}"{checked}>&nbsp;'
            f'<label for="{key}-{number}">{verdict} ({count})</label>'
        )
        if verdict != "all":
            others = f"tbody:not(.row-{_class(verdict)})"
            rules.append(f"#{key}-{number}:checked ~ table > {others} {{ display: none; }}")
    about = _about_standins(table)
    table = table.assign(trace=table["trace"].str.replace(STANDIN, "", regex=True))
    traces = list(dict.fromkeys(filter(None, (_source(row) for _, row in table.iterrows()))))
    same = len(traces) == 1
    head = "".join(f"<th>{name}</th>" for name in SHOWN)
    shared = _shared(of_row(row, "details") for _, row in table.iterrows())
    before = [None, *table["id"]]
    rows = "".join(
        _html_rows(row, verdict, same, most, shared, bool(about), again=row["id"] == name)
        for (_, row), verdict, name in zip(table.iterrows(), verdicts, before, strict=False)
    )
    if same:
        about += f'<p class="trace">Measured on {in_html(traces[0])}.</p>'
    if shared:
        about += (
            f"<details><summary>what holds for most claims</summary><div>{in_html(' '.join(shared))}</div></details>"
        )
    return (
        f'<div class="schedlab-ledger"><style>{STYLE}{VERDICT_STYLE}{"".join(rules)}</style>{about}{"".join(filters)}'
        f"<table><thead><tr>{head}</tr></thead>{rows}</table></div>"
    )


def folded(table: pd.DataFrame) -> str:
    """Write a ledger as HTML behind a line that counts its verdicts; open if a quick run does not agree with it."""
    counts = [f"{SHAPES[verdict]} {count} {verdict}" for verdict, count in counted(table).items() if count]
    head = ": ".join(filter(None, (f"All {len(table)} claims, published beside measured", ", ".join(counts))))
    opened = " open" * bool((table["verdict"] == AGREEMENTS[1]).any())
    return (
        f'<details class="schedlab-fold"{opened}><summary style="cursor: pointer">{head}</summary>'
        f"{as_html(table)}</details>"
    )


def written(conditions: pd.DataFrame, place: int, form: str) -> str:
    """Write down a condition of a check, that in row `place`: value, interval, and what tells it apart from the others.

    Columns that tell conditions apart are followed by value, low and high; the format has the unit of these.
    """
    row = conditions.iloc[place]
    value = interval(row["value"], row["low"], row["high"], form)
    apart = [word(name, row[name]) for name in conditions.columns.drop(VALUES) if len(set(conditions[name])) > 1]
    return f"{value} ({', '.join(apart)})" if apart else value


def word(name: str, value) -> str:
    """Write down what tells a condition apart: the value of a column, with as much of its name as it needs."""
    if name == "load":
        return f"load {value:g}"
    if name in ("share", "sweeps"):
        return f"{value:g} % sweeps"
    if name == "pes":
        return f"{value} PEs"
    return f"{name} {value:g}" if isinstance(value, float) else str(value)


def _is_full(row):
    """Tell whether a row shows the kept full size."""
    return "kept" in row and isinstance(row["kept"], str)


def of_row(row, name):
    """Return what is shown of a row: of the kept full size where there is one."""
    kept = "kept" if name == "measured" else f"kept_{name}"
    return row[kept if _is_full(row) else name]


def _sentences(text):
    return re.split(r"(?<=\.) (?=[A-Z])", text)


def _shared(details):
    """Return the sentences that more than half of all details have, of at least three."""
    texts = [_sentences(text) for text in details if text]
    counts = Counter(sentence for sentences in texts for sentence in dict.fromkeys(sentences))
    return [sentence for sentence, count in counts.items() if count >= 3 and 2 * count > len(texts)]


def _source(row):
    """Return the traces on which a row's conditions were measured; "" if there are none."""
    trace = row["kept_trace"] if _is_full(row) else row["trace"]
    return "" if trace == "no trace" else trace


def _about_standins(table):
    """Say once which logs are stand-ins; the rows then name them without that."""
    names = [name for trace in table["trace"] for name in _logs(trace) if STANDIN.search(name)]
    names = [STANDIN.sub("", name) for name in dict.fromkeys(names)]
    if not names:
        return ""
    many = "stand-ins, not the real logs" if len(names) > 1 else "a stand-in, not the real log"
    return f"<p>Simulated just now on {many}: {in_html(', '.join(names))}.</p>"


def _logs(traces):
    """Return the names of logs in a list of these; a title may have commas in brackets."""
    return re.split(r", (?![^(]*\))", traces) if traces else []


def badge(verdict: str, count: str = "") -> str:
    """Return a verdict in its colour and with its shape, and of how many claims it is, if that is told."""
    label = " ".join(filter(None, (SHAPES[verdict], count, verdict)))
    return f'<span class="schedlab-badge schedlab-{COLOURS[verdict]}">{label}</span>'


def _html_rows(row, verdict, same_trace, most, shared, standins, again):
    full = _is_full(row)
    names = ("reason", "readings", "details", "conditions")
    reason, readings, details, conditions = (of_row(row, name) for name in names)
    details = " ".join(sentence for sentence in _sentences(details) if sentence not in shared)
    measured, below = _unbroken(row["kept"] if full else row["measured"]) or "-", []
    if full and (row["measured"], row["verdict"]) != (row["kept"], row["kept_verdict"]):
        other = "" if row["trace"] == row["kept_trace"] else f", on {in_html(row['trace'])}"
        other = ", on stand-ins" if standins else other
        agrees = row["verdict"] or "no case in common"
        again_measured = f"just now{other}: {_unbroken(row['measured']) or '-'}, {agrees}"
        if row["verdict"] == AGREEMENTS[1]:  # below, where there is room
            below.append(f'<div class="quick">Just now, it does not agree. {in_html(row["reason"])}</div>')
        measured = f'full size: {measured}<span class="quick">{again_measured}</span>'
    name = in_html(row["id"])
    cells = {
        "id": f'<span class="again">{name}</span>' if again else name.replace(" to ", "<br>to "),
        "statement": f'{in_html(row["statement"])} <span class="where">({in_html(row["where"])})</span>',
        "published": in_html(row["published"]),
        "measured": measured,
        "verdict": badge(verdict) if verdict else "-",
    }
    cells = "".join(f'<td class="{name}">{cell}</td>' for name, cell in cells.items())
    chosen = f"Our choice, stated before the runs: {row['tolerance']}." * bool(row["tolerance"])
    readings = f"<div>{in_html(readings[0].upper() + readings[1:])}.</div>" if readings else ""
    fold = _fold(f"{chosen} {details}".strip(), "" if same_trace else _source(row), conditions, most)
    below = "".join([in_html(reason), readings, *below, fold])
    below = f'<tr><td></td><td class="reason" colspan="{len(SHOWN) - 1}">{below}</td></tr>' if below else ""
    return f'<tbody class="row-{_class(verdict)}"><tr>{cells}</tr>{below}</tbody>'


def _fold(details, traces, conditions, most):
    """Write a claim's fold: on it how many conditions and which traces, behind it the details."""
    names = _logs(traces)
    many = len(names) > 2
    on = f"{len(names)} logs" if many else " and ".join(f'<span class="trace">{in_html(name)}</span>' for name in names)
    count = sum(row["condition"] != TOGETHER for row in conditions)
    head = " ".join([f"{count} case{'s' * (count > 1)}"] * bool(conditions) + [f"on {on}"] * bool(on))
    if not (many or details or conditions):
        return f"<div>{head}</div>" if head else ""
    parts = [f"<div>{in_html(text)}</div>" for text in (details, f"Measured on {traces}." * many) if text]
    if conditions:
        if most is not None and most < len(conditions):
            conditions = sorted(
                conditions, key=lambda row: (row["condition"] != TOGETHER, row["outcome"] == "supports")
            )
            parts.append(f"<div>{most} of {len(conditions)}, those that do not support the claim first:</div>")
        rows = [_html_line([row[name] for name in TOLD], "td") for row in conditions[:most]]
        parts.append(f"<table>{_html_line(HEADINGS, 'th')}{''.join(rows)}</table>")
    return f"<details><summary>{head or 'more'}</summary>{''.join(parts)}</details>"


def _html_line(cells, tag):
    return "<tr>" + "".join(f"<{tag}>{in_html(cell)}</{tag}>" for cell in cells) + "</tr>"


def _unbroken(text):
    """Escape a text whose intervals stay on one line."""
    return re.sub(r"\[[^][]* to [^][]*\]", r'<span class="ends">\g<0></span>', in_html(text))


def _class(verdict):
    return verdict.replace(" ", "-")


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return a ledger's columns as a terminal or a Markdown page shows them: one line a claim."""
    table = in_words(table)
    columns = {"id": table["id"], "verdict": standing(table), "what the paper says": table["statement"]}
    columns |= {name: table[name] for name in ("published", "measured", "reason")}
    if "kept" in table:
        for name, kept in (("measured", "kept"), ("reason", "kept_reason")):
            columns[name] = table[name].where(table["kept"].isna(), table[kept])
    return pd.DataFrame(columns)


def as_json(table: pd.DataFrame) -> str:
    """Write a ledger as JSON: a list of rows, each with its conditions."""
    return json.dumps(table.astype(object).where(table.notna(), None).to_dict("records"), indent=2, ensure_ascii=False)


def as_markdown(table: pd.DataFrame) -> str:
    """Write a ledger as a table in Markdown."""
    rows = summary(table)
    lines = [list(rows.columns), ["---"] * rows.shape[1], *rows.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)

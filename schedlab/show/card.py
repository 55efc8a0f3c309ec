"""The figure card and the wall of cards, as HTML: in notebooks, in the report and on the site, light or dark."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from itertools import takewhile
from types import MappingProxyType

import pandas as pd

from .ledgers import COLOURS, FAILURES_FIRST, SHAPES, VERDICT_STYLE, badge, in_words, of_row, standing
from .page import image as picture
from .page import note
from .reading import readable, typeset, unbroken

CONTRADICTED = re.compile(r"\d+ of \d+ cases? .*contradict")  # how a reason begins
OF_CASES = re.compile(
    r"(\d+) of (\d+) cases? (support|contradict)s? it(?:, (\d+) contradicts? it)?(?:, (\d+) \w+ open)?"
)
HOLDS = re.compile("holds under: .*; ")  # under some readings only
SOME_NUMBERS = re.compile(r"the paper gives numbers (for .* only): (.*)")
ALL_OPEN = re.compile(r"The intervals? (?:of all (\d+) cases )?allows? both")
MOST_REASONS = 3  # of a verdict; the others are in the fold of claims
__all__ = ["badge", "badges", "below", "brief", "counts", "findings", "head", "picture", "switch", "wall"]
STYLE = (
    f"<style>{VERDICT_STYLE}"
    """
.schedlab-card, .schedlab-wall { --edge: rgba(128, 128, 128, .35); color: var(--jp-content-font-color1, inherit);
  max-width: 58rem; line-height: 1.5; font-family: var(--jp-content-font-family, inherit); font-size: 15px;
  overflow-wrap: break-word; }
.schedlab-card .top { display: flex; flex-wrap: wrap; gap: .2rem 1rem; align-items: start; }
.schedlab-card .top h3 { flex: 1 1 18rem; margin: 0; font-size: 1.3em; font-weight: 600; line-height: 1.25; }
.schedlab-card .number { flex-basis: 100%; font-size: .9em; opacity: .75; }
:is(.schedlab-card, .schedlab-wall) ul.why { list-style: none; margin: .3em 0; padding: 0; font-size: .93em; }
:is(.schedlab-card, .schedlab-wall) ul.why ul.why { margin: 0 0 .2em 1em; font-size: inherit; }
.schedlab-card p { margin: .3em 0; } .schedlab-card .fine { font-size: .9em; }
.schedlab-card p.fine { opacity: .85; }
.schedlab-card .folds { display: flex; flex-wrap: wrap; gap: .1rem 1.4rem; align-items: start; margin: .3em 0; }
.schedlab-card details[open] { flex-basis: 100%; overflow-x: auto; }
:is(.schedlab-card, .schedlab-wall) summary { cursor: pointer; padding: .2em 0; opacity: .85; }
.schedlab-card table.claims { border-collapse: collapse; width: 100%; margin: .2em 0; font-size: .93em;
  table-layout: auto; }
.schedlab-card table.claims tr { background: none; }
.schedlab-card table.claims td { text-align: left; vertical-align: top; padding: .4em .9em .4em 0; white-space: normal;
  border: none; border-top: 1px solid var(--edge); }
.schedlab-card table.claims :is(td:first-child, td:last-child) { white-space: nowrap; }
@media (min-width: 40.1rem) { .schedlab-card table.claims :is(td:first-child, td:last-child) { width: 1%; }
  .schedlab-card table.claims td:nth-child(2) { width: 36%; } }
@media (max-width: 40rem) { .schedlab-card table.claims :is(tbody, tr, td) { display: block; }
  .schedlab-card table.claims td { border: none; padding: .1em 0; }
  .schedlab-card table.claims tr { border-top: 1px solid var(--edge); padding: .4em 0; } }
.schedlab-card pre { background: rgba(128, 128, 128, .12); padding: .5em .8em; overflow-x: auto; color: inherit; }
.schedlab-wall .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(11.5rem, 1fr)); gap: .7rem;
  margin: .6em 0; }
.schedlab-wall .tile { color: inherit; text-decoration: none; border: 1px solid var(--edge); border-radius: .6rem;
  padding: .5rem .7rem .6rem; font-size: .9em; display: block; }
.schedlab-wall .tile svg { display: block; width: 100%; height: 84px; margin-bottom: .3rem; }
.schedlab-wall .state { white-space: nowrap; font-weight: 600; }
.schedlab-wall .line { border-left: 3px solid var(--edge); padding: 0 .7rem; margin-bottom: .7rem; font-size: .9em;
  break-inside: avoid; }
.schedlab-wall .lines { columns: 2 20rem; column-gap: .7rem; margin: .7em 0; }
@media (max-width: 30rem) { .schedlab-wall .tiles { grid-template-columns: 1fr 1fr; } }
.schedlab-wall .lead { font-size: 1.05em; margin: .3em 0; } .schedlab-wall .lead b { white-space: nowrap; }
</style>"""
)


def badges(numbers: Mapping[str, int]) -> str:
    """Return the verdicts of some claims; where they differ, with the number of each."""
    present = {verdict: count for verdict, count in numbers.items() if count}
    if not present:
        return '<span class="schedlab-badge schedlab-open">no claim</span>'
    return " ".join(badge(verdict, f"{count}" if len(present) > 1 else "") for verdict, count in present.items())


def counts(numbers: Mapping[str, int], of: str = "") -> str:
    """Return the numbers of verdicts in words, each in its colour: "Of 10 claims: 6 reproduced, 4 in part."

    The claims may be said to be of something.
    """
    total = sum(numbers.values())
    told = [
        f'<b class="schedlab-{COLOURS[verdict]}">{SHAPES[verdict]} {count} {verdict}</b>'
        for verdict, count in numbers.items()
        if count
    ]
    return f"Of {total} claims{escape(f' of {of}' if of else '')}: {', '.join(told)}."


def brief(numbers: Mapping[str, int]) -> str:
    """Return the numbers of verdicts, each with its shape and in its colour."""
    return " ".join(_state(verdict, f" {count}") for verdict, count in numbers.items() if count)


def head(where: str, title: str, numbers: Mapping[str, int], name: str = "") -> str:
    """Return what stands above the picture of a card: its place in the paper, what is seen, and the verdicts."""
    place = f' id="{escape(name)}"' if name else ""
    return (
        f'{STYLE}<div class="schedlab-card"{place}><div class="top"><div class="number">{escape(where)}</div>'
        f'<h3 class="schedlab-title">{escape(unbroken(title))}</h3><span>{badges(numbers)}</span></div></div>'
    )


def below(
    *,
    seen: str,
    standins: Iterable[str] = (),
    agreement: str = "",
    warning: bool = False,
    sample: str = "",
    numbers: str = "",
    opened: bool = False,
    claims: pd.DataFrame | None = None,
    elsewhere: Mapping[str, str] | None = None,
    notes: Iterable[str] = (),
    code: str = "",
) -> str:
    """Return what stands below the picture of a card.

    Parameters
    ----------
    seen : str
        What the picture shows.
    standins : iterable of str
        Which logs are not at hand.
    agreement : str
        What was simulated just now, and whether it agrees.
    warning : bool
        Whether it does not.
    sample : str
        What was simulated.
    numbers : str
        A table, as HTML.
    opened : bool
        Show it at once: there is no picture.
    claims : DataFrame, optional
        Rows of the ledger.
    elsewhere : mapping of str to str
        For claims, by their ids, with which other figure they are said.
    notes : iterable of str
        What the reader must know besides.
    code : str
        The same in Python.
    """
    folds, some = [], claims is not None and len(claims) > 0
    claims = in_words(claims) if some else claims
    if some:
        count = f"{len(claims)} claim{'s' * (len(claims) > 1)}"
        folds.append(_fold(count, "".join(_claims(claims))))
    if numbers and not opened:
        folds.append(_fold("numbers", numbers))
    readings = "".join(f"<p>{_text(text)}</p>" for text in notes)
    folds.append(_fold("sample and readings", readings) if readings else "")
    folds.append(_fold("code", f"<pre>{escape(code)}</pre>") if code else "")
    fine = " ".join(filter(None, (sample, "" if warning else agreement)))
    return "".join(
        [
            f'<div class="schedlab-card">{_wide(numbers) if opened else ""}',
            f'<p class="schedlab-caption">{escape(unbroken(seen))}</p>',
            _why(claims, elsewhere or {}) if some else "",
            *map(note, (*standins, *[agreement] * warning)),
            f'<p class="fine">{_text(fine)}</p>' if fine else "",
            f'<div class="folds">{"".join(folds)}</div></div>',
        ]
    )


def _why(claims, elsewhere=MappingProxyType({})):
    """Say at a glance which claims do not hold, and why, and which do; of some, only where they are said."""
    lines, rows = [], list(zip(claims.to_dict("records"), standing(claims), strict=True))
    for verdict in FAILURES_FIRST:
        named = [row for row, each in rows if each == verdict]
        if not named:
            continue
        if verdict == "reproduced":
            lines.append(f"{_mark(verdict)}: {escape(', '.join(row['id'] for row in named))}")
            continue
        explained = [row for row in named if row["id"] not in elsewhere]
        lines += [_line(row, verdict) for row in explained[:MOST_REASONS]]
        if left := [row["id"] for row in explained[MOST_REASONS:]]:
            lines.append(f"{_mark(verdict)}, too: {escape(', '.join(left))}")
        others = [f"{row['id']} (see {elsewhere[row['id']]})" for row in named if row not in explained]
        lines += [f"{_mark(verdict)}: {escape(', '.join(others))}"] if others else []
    return _listed(lines)


def _in_lines(claims, defaults=None, others=()):
    """Say each claim in a line, below its place in the paper, and why it does not hold.

    What does not hold is first, places as well as the claims of each; places where all holds are in a fold of their
    own. The verdict is told by its shape alone, as in the line above, and a reading by a short name; what it is read
    against stands above. Figures that no claim names are last.
    """
    defaults = defaults or {}
    rows, places = list(zip(claims.to_dict("records"), standing(claims), strict=True)), {}
    for verdict in FAILURES_FIRST:
        for row, each in rows:
            if each == verdict:
                place = row["where"].removeprefix("caption of ")
                places.setdefault(place[0].upper() + place[1:], []).append((row, verdict))
    readings = dict.fromkeys(reading for group in places.values() for told in group for reading in _apart(*told)[1])
    names = {reading: f"R{number}" for number, reading in enumerate(readings, 1)}
    items = {True: {}, False: {}}  # by whether all holds
    for place, group in places.items():
        shared = _shared([row["statement"] for row, _ in group])
        lines = [_short_line(row, verdict, shared, names) for row, verdict in group]
        among = escape(f", {shared}".rstrip(" ,:"))
        words = f"<b>{escape(place)}</b>" + (f"{among}{_listed(lines)}" if len(lines) > 1 else f" {lines[0]}")
        items[group[0][1] == "reproduced"][place] = words
    holds, fails = items[True], items[False]
    named = _listed(f"<b>{escape(place)}</b>: {_text(why)}" for place, why in others) if others else ""
    if not fails:
        return _listed(holds.values()) + named
    read = [f"{name} {reading}{_against(defaults.get(reading), reading)}" for reading, name in names.items()]
    about = "n/m hold, fail or open: of m cases, n support the claim, contradict it, or allow both."
    about = f"<p>{about} Readings of what the paper leaves open:</p>{_list_of(read)}" if read else f"<p>{about}</p>"
    whole = _fold(f"{SHAPES['reproduced']} reproduced: {', '.join(holds)}", _listed(holds.values())) if holds else ""
    return f"{about}{_listed(fails.values())}{whole}{named}"


def _list_of(lines):
    return _listed(map(escape, lines))


def _against(default, reading):
    """Say what is assumed instead of a reading, which may be the default itself."""
    return "" if default is None else " (the default)" if default == reading else f" (the default: {default})"


def _apart(row, verdict):
    """Return "only" or "not", and the readings under which alone a claim holds or does not; "" where that is no reason.

    "Only", if these are fewer than those under which it does not hold.
    """
    readings = str(of_row(row, "readings"))
    if verdict == "reproduced" or not HOLDS.match(readings) or _reason(row) != readings:
        return "", []
    outcomes = dict(part.split(" under: ") for part in readings.split("; "))
    holds = outcomes.pop("holds").split(", ")
    others = [reading for several in outcomes.values() for reading in several.split(", ")]
    return ("only", holds) if len(holds) < len(others) else ("not", others)


def _shared(statements):
    """Return the conditions with which all of several statements begin, such as "A = P: "."""
    columns = zip(*(words.replace(": ", ", ") for words in statements), strict=False)
    same = "".join(column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns))
    return statements[0][: same.rfind(", ") + 2] if len(statements) > 1 and ", " in same else ""


def _short_line(row, verdict, shared, names):
    why, readings = _apart(row, verdict)
    if readings:
        why = f"{why} under {', '.join(sorted(names[reading] for reading in readings))}"
    elif verdict != "reproduced":
        why = OF_CASES.sub(lambda cases: _counted(cases, verdict), _reason(row))
        why = ALL_OPEN.sub(lambda cases: f"{cases[1]}/{cases[1]} open" if cases[1] else "open", why)
    if verdict == "not reproduced" and (value := str(of_row(row, "measured")).rpartition(": ")[2].partition(" [")[0]):
        why = "; ".join(filter(None, (f"{value} here", why)))
    words = _claimed(row)[len(shared) :]
    return f"{_sign(verdict)} {escape(row['id'])}: {_text(words)}{_text(f' ({why})') if why else ''}"


def _counted(cases, verdict):
    """Shorten how many cases support or contradict a claim; of one that holds in part, the former are enough."""
    count, total, outcome, fail, undecided = cases.groups()
    if outcome == "support" and verdict == "in part":
        return f"{count}/{total} hold"
    told = f"{count}/{total} {'hold' if outcome == 'support' else 'fail'}"
    return told + (f", {fail} fail" if fail else "") + (f", {undecided} open" if undecided else "")


def _line(row, verdict):
    why = "" if verdict == "reproduced" else f" ({_reason(row)})".replace(" ()", "")
    return f"{_mark(verdict)}: {_text(row['id'] + ', ' + _claimed(row) + why)}"


def _mark(verdict):
    return f'<b class="schedlab-{COLOURS[verdict]}">{SHAPES[verdict]} {verdict}</b>'


def _sign(verdict):
    return f'<b class="schedlab-{COLOURS[verdict]}" title="{verdict}">{SHAPES[verdict]}</b>'


def _listed(lines):
    return f'<ul class="why">{"".join(f"<li>{line}</li>" for line in lines)}</ul>'


def _claimed(row):
    """Say what the paper claims, with the number or words that it gives, unless the statement has them."""
    published = SOME_NUMBERS.sub(r"\2, \1", readable(row["published"]))
    if published in row["statement"] or published.startswith("the paper gives no number"):
        published = ""
    return ": ".join(filter(None, (row["statement"], published)))


def _reason(row):
    """Say why a claim is not reproduced: where it depends on a reading, under which; else what was found.

    Cases that contradict it in the sample itself say more than the readings, unless it holds under one of these.
    """
    reason, readings = (words if isinstance(words := of_row(row, name), str) else "" for name in ("reason", "readings"))
    reason = reason.partition(". ")[0].rstrip(".")
    depends = "; " in readings and "holds under" in readings
    if depends and ("fails under" in readings or not CONTRADICTED.match(reason)):
        return readings
    while reason != (reason := re.sub(r" ?(\([^()]*\)|\[[^][]*\])", "", reason)):
        pass  # brackets within brackets
    return reason or readings


def _text(text):
    return escape(typeset(text))


def _wide(content):
    return f'<div style="overflow-x: auto">{content}</div>'


def _fold(summary, content):
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def _claims(claims):
    yield '<table class="claims">'
    for row, verdict in zip(claims.to_dict("records"), standing(claims), strict=True):
        readings = f"<br>{_text(row['readings'][0].upper() + row['readings'][1:])}." if row["readings"] else ""
        reason = f"<br>{_text(row['reason'])}" if row["reason"] else ""
        measured = f"Measured: {_text(row['measured'])}" if row["measured"] else ""
        cells = (
            escape(row["id"]).replace(" to ", "<br>to "),
            f"{_text(row['statement'])}<br>Published: {_text(row['published'])}",
            f"{measured}{reason}{readings}".removeprefix("<br>"),
            badge(verdict),
        )
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    yield "</table>"


def switch(names: Iterable[str], parts: Iterable[str], key: str) -> str:
    """Return several cards of which one is shown at a time, chosen by its name; without a script.

    Parameters
    ----------
    names, parts : iterable of str
        The parts are HTML.
    key : str
        Unlike that of any other switch on the page.
    """
    buttons, shown, rules = [], [], []
    for place, (name, part) in enumerate(zip(names, parts, strict=True)):
        one = f"{key}-{place}"
        checked = " checked" * (place == 0)
        buttons.append(
            f'<input type="radio" name="{key}" id="{one}"{checked}> <label for="{one}">{escape(name)}</label> '
        )
        shown.append(f'<div class="{one}">{part}</div>')
        rules.append(f".{key} > .{one} {{ display: none; }} .{key} > #{one}:checked ~ .{one} {{ display: block; }}")
    return f'<div class="{key}"><style>{" ".join(rules)}</style>{"".join(buttons)}{"".join(shown)}</div>'


def wall(
    lead: str,
    tiles: Iterable[tuple],
    beyond: Iterable[tuple] = (),
    notes: Iterable[str] = (),
    words: Iterable[tuple[str, str]] = (),
    claims: pd.DataFrame | None = None,
    defaults: Mapping[str, str] | None = None,
    others: Iterable[tuple[str, str]] = (),
) -> str:
    """Return a wall: a line, and for each card a tile with its picture.

    Parameters
    ----------
    lead : str
        HTML.
    tiles, beyond : iterable of (address, picture, number, title, verdicts, claims)
        Of the paper, and beyond it. The picture is an SVG; the verdicts are numbers of claims; the claims are rows of
        the ledger, each after its verdict. They are in a fold where there is no picture.
    notes : iterable of str
        What the reader of several figures must know.
    words : iterable of (str, str)
        The paper's words, each with what it means.
    claims : DataFrame, optional
        Rows of the ledger.
    defaults : mapping of str to str
        For readings of what the paper leaves open, what is assumed otherwise.
    others : iterable of (str, str)
        Figures that no claim names, each with why.
    """
    parts = [f'<p class="lead">{lead}</p>']
    if claims is not None and len(claims):
        parts.append(_fold("all claims, in a line each", _in_lines(in_words(claims), defaults, others)))
    if lines := "".join(f"<li><b>{escape(word)}</b>: {_text(meaning)}</li>" for word, meaning in words):
        parts.append(_fold("words and codes of this paper", f"<ul>{lines}</ul>"))
    parts.append(_tiled(tiles))
    if beyond := _tiled(beyond):
        parts.append(f'<p class="fine">Behind the figures, and beyond the paper</p>{beyond}')
    if told := "".join(f"<p>{_text(words)}</p>" for words in notes):
        parts.append(_fold("sample and readings of these figures", told))
    return f'{STYLE}<div class="schedlab-wall">{"".join(parts)}</div>'


def findings(sentences: Iterable[tuple[str, Mapping[str, str], str]]) -> str:
    """Return sentences, each with the verdicts of the claims on which it rests.

    Parameters
    ----------
    sentences : iterable of (words, claims, warning)
        The claims are verdicts by id; the warning is "" for none.
    """
    lines = []
    for words, claims, warning in sentences:
        told = []
        for verdict in dict.fromkeys(claims.values()):
            names = escape(", ".join(name for name, each in claims.items() if each == verdict))
            told.append(f'<span class="schedlab-{COLOURS[verdict]}">{SHAPES[verdict]} {names}: {verdict}</span>')
        fine = f' <span class="fine">({", ".join(told)})</span>' if told else ""
        lines.append(f"<li>{_text(words)}{fine}{note(warning) if warning else ''}</li>")
    return f'{STYLE}<div class="schedlab-card"><ul>{"".join(lines)}</ul></div>'


def _tiled(tiles):
    """Return tiles with their pictures, those without below, and behind a fold what these claim."""
    tiles = list(tiles)
    groups = [[tile for tile in tiles if bool(tile[1]) == drawn] for drawn in (True, False)]
    rows = [f'<div class="tiles">{"".join(map(_tile, group))}</div>' for group in groups if group]
    if lines := "".join(map(_line_of, groups[1])):
        rows.append(_fold("published beside measured", f'<div class="lines">{lines}</div>'))
    return "".join(rows)


def _tile(tile):
    address, picture, number, title, verdicts, *_ = tile
    tag, link = ("a", f' href="{escape(address)}"') if address else ("div", "")
    several = len(verdicts) > 1
    state = " ".join(_state(verdict, f" {count if several else verdict}") for verdict, count in verdicts.items())
    if number and not verdicts:
        state = '<span class="state schedlab-open">no claim</span>'
    return f'<{tag} class="tile"{link}>{picture}{_named(number, title)} {state}</{tag}>'


def _line_of(tile):
    """Say what is claimed of a tile beside what was measured; "" if nothing is."""
    _, _, number, title, _, *claims = tile
    values = "".join(map(_beside, *claims)) if claims else ""
    return f'<div class="line">{_named(number, title)}{values}</div>' if values else ""


def _named(number, title):
    title = escape(unbroken(title))
    return f"<b>{escape(number)}</b> {title}" if number else title


def _beside(claim):
    """Say what the paper claims beside what was measured, in a line."""
    verdict, row = claim
    measured = readable(str(of_row(row, "measured")))
    measured = f"<br>Measured: {_text(measured)}" if measured else ""
    return f"<div>{_state(verdict)} {escape(row['id'])}: {_text(_claimed(row))}{measured}</div>"


def _state(verdict, count=""):
    return f'<span class="state schedlab-{COLOURS[verdict]}" title="{verdict}">{SHAPES[verdict]}{count}</span>'

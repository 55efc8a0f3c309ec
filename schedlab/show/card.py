"""The figure card and the wall of cards, as HTML: in notebooks, in the report and on the site, light or dark."""

import re
from collections.abc import Iterable, Mapping
from html import escape
from itertools import takewhile

import pandas as pd

from .ledgers import COLOURS, FAILURES_FIRST, SHAPES, VERDICT_STYLE, badge, in_words, of_row, standing
from .page import image as picture
from .page import note, text_beside
from .reading import in_html, readable, unbroken

CONTRADICTED = re.compile(r"\d+ of \d+ cases? .*contradict")  # how a reason begins
OF_CONDITIONS = re.compile(
    r"(\d+) of (\d+) cases? (support|contradict)s? it(?:, (\d+) contradicts? it)?(?:, (\d+) \w+ open)?"
)
HOLDS = re.compile("holds under: .*; ")  # under some readings only
SOME_NUMBERS = re.compile(r"the paper gives numbers (for .* only): (.*)")
ALL_OPEN = re.compile(r"The intervals? (?:of all (\d+) cases )?allows? both")
MOST_REASONS = 3  # of a verdict; the others are in the fold of claims
__all__ = ["badge", "badges", "below", "brief", "counts", "findings", "head", "picture", "switch", "wall"]
STYLE = f"<style>{VERDICT_STYLE}{text_beside(__file__, 'card.css')}</style>"


def badges(numbers: Mapping[str, int]) -> str:
    """Return the verdicts of some claims; where they differ, with the number of each."""
    present = {verdict: count for verdict, count in numbers.items() if count}
    none = '<span class="schedlab-badge schedlab-open">no claim</span>'
    return " ".join(badge(verdict, str(count) * (len(present) > 1)) for verdict, count in present.items()) or none


def counts(numbers: Mapping[str, int], of: str = "") -> str:
    """Return the numbers of verdicts, each in its colour: "Of 10 claims of five papers: 6 reproduced, 4 in part."."""
    parts = [_mark(verdict, f"{count} ") for verdict, count in numbers.items() if count]
    return f"Of {sum(numbers.values())} claims{escape(f' of {of}' if of else '')}: {', '.join(parts)}."


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
    """Return what stands below the picture of a card: what is `seen` in it, the sample, the numbers (HTML), the code.

    `standins` says which logs are not at hand; `agreement` what was simulated just now and whether it agrees: else it
    is a warning. Numbers are `opened` where there is no picture. `claims` are rows of the ledger, `elsewhere`
    says, by their ids, with which other figure some are said, and `notes` what the reader must know besides.
    """
    folds, why = [], ""
    if claims is not None and len(claims):
        claims = in_words(claims)
        why = _why(claims, elsewhere or {})
        count = f"{len(claims)} claim{'s' * (len(claims) > 1)}"
        folds.append(_fold(count, "".join(_claims(claims))))
    if numbers and not opened:
        folds.append(_fold("numbers", numbers))
    readings = "".join(f"<p>{in_html(text)}</p>" for text in notes)
    folds.append(_fold("sample and readings", readings) if readings else "")
    folds.append(_fold("code", f"<pre>{escape(code)}</pre>") if code else "")
    fine = " ".join(filter(None, (sample, "" if warning else agreement)))
    return "".join(
        [
            f'<div class="schedlab-card">{_wide(numbers) if opened else ""}',
            f'<p class="schedlab-caption">{escape(unbroken(seen))}</p>',
            why,
            *map(note, (*standins, *[agreement] * warning)),
            f'<p class="fine">{in_html(fine)}</p>' if fine else "",
            f'<div class="folds">{"".join(folds)}</div></div>',
        ]
    )


def _why(claims, elsewhere):
    """Say at a glance which claims do not hold, and why, and which do; of some, only where they are said."""
    lines = []
    for verdict, rows in _by_verdict(claims):
        if verdict == "reproduced":
            lines.append(f"{_mark(verdict)}: {escape(', '.join(row['id'] for row in rows))}")
            continue
        explained = [row for row in rows if row["id"] not in elsewhere]
        for row in explained[:MOST_REASONS]:
            why = f" ({_reason(row)})".replace(" ()", "")
            lines.append(f"{_mark(verdict)}: {in_html(row['id'] + ', ' + _claimed(row) + why)}")
        if left := [row["id"] for row in explained[MOST_REASONS:]]:
            lines.append(f"{_mark(verdict)}, too: {escape(', '.join(left))}")
        if others := [f"{row['id']} (see {elsewhere[row['id']]})" for row in rows if row not in explained]:
            lines.append(f"{_mark(verdict)}: {escape(', '.join(others))}")
    return _listed(lines)


def _by_verdict(claims):
    """Return the verdicts of claims, each with its rows; failures are first."""
    rows = list(zip(claims.to_dict("records"), standing(claims), strict=True))
    groups = [(verdict, [row for row, reached in rows if reached == verdict]) for verdict in FAILURES_FIRST]
    return [(verdict, group) for verdict, group in groups if group]


def _in_lines(claims, defaults=None, others=()):
    """Say each claim in a line, below its place in the paper, and why it does not hold; what does not hold is first.

    Places where all holds are in a fold of their own; figures that no claim names are last. A verdict is told by its
    shape alone, a reading by a short name that is explained above.
    """
    defaults, places = defaults or {}, {}
    for verdict, rows in _by_verdict(claims):
        for row in rows:
            place = row["where"].removeprefix("caption of ")
            places.setdefault(place[0].upper() + place[1:], []).append((row, verdict))
    readings = [reading for group in places.values() for row, verdict in group for reading in _apart(row, verdict)[1]]
    names = {reading: f"R{number}" for number, reading in enumerate(dict.fromkeys(readings), 1)}
    items = {True: {}, False: {}}  # by whether all holds
    for place, group in places.items():
        shared = _shared([row["statement"] for row, _ in group])
        lines = [_short_line(row, verdict, shared, names) for row, verdict in group]
        among = escape(f", {shared}".rstrip(" ,:"))
        claims = f"{among}{_listed(lines)}" if len(lines) > 1 else f" {lines[0]}"
        items[group[0][1] == "reproduced"][place] = f"<b>{escape(place)}</b>{claims}"
    holds, fails = items[True], items[False]
    named = _listed(f"<b>{escape(place)}</b>: {in_html(why)}" for place, why in others) if others else ""
    if not fails:
        return _listed(holds.values()) + named
    read = [f"{name} {reading}{_against(defaults.get(reading), reading)}" for reading, name in names.items()]
    about = "n/m hold, fail or open: of m cases, n support the claim, contradict it, or allow both."
    about = (
        f"<p>{about} Readings of what the paper leaves open:</p>{_listed(map(escape, read))}"
        if read
        else f"<p>{about}</p>"
    )
    whole = _fold(f"{SHAPES['reproduced']} reproduced: {', '.join(holds)}", _listed(holds.values())) if holds else ""
    return f"{about}{_listed(fails.values())}{whole}{named}"


def _against(default, reading):
    """Say what is assumed instead of a reading, which may be the default itself."""
    return "" if default is None else " (the default)" if default == reading else f" (the default: {default})"


def _apart(row, verdict):
    """Return "only" or "not", and the readings under which alone a claim holds or does not, whichever are fewer.

    Return "" and no readings where these are no reason.
    """
    readings = str(of_row(row, "readings"))
    if verdict == "reproduced" or not HOLDS.match(readings) or _reason(row) != readings:
        return "", []
    outcomes = dict(part.split(" under: ") for part in readings.split("; "))
    holds = outcomes.pop("holds").split(", ")
    others = [reading for names in outcomes.values() for reading in names.split(", ")]
    return ("only", holds) if len(holds) < len(others) else ("not", others)


def _shared(statements):
    """Return the conditions with which all of several statements begin, such as "A = P: "."""
    columns = zip(*(statement.replace(": ", ", ") for statement in statements), strict=False)
    same = "".join(column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns))
    return statements[0][: same.rfind(", ") + 2] if len(statements) > 1 and ", " in same else ""


def _short_line(row, verdict, shared, names):
    why, readings = _apart(row, verdict)
    if readings:
        why = f"{why} under {', '.join(sorted(names[reading] for reading in readings))}"
    elif verdict != "reproduced":
        why = OF_CONDITIONS.sub(lambda match: _counted(match, verdict), _reason(row))
        why = ALL_OPEN.sub(lambda match: f"{match[1]}/{match[1]} open" if match[1] else "open", why)
    if verdict == "not reproduced" and (value := str(of_row(row, "measured")).rpartition(": ")[2].partition(" [")[0]):
        why = "; ".join(filter(None, (f"{value} here", why)))
    why = f" ({why})" if why else ""
    shape = f'<b class="schedlab-{COLOURS[verdict]}" title="{verdict}">{SHAPES[verdict]}</b>'
    return f"{shape} {escape(row['id'])}: {in_html(_claimed(row)[len(shared) :])}{in_html(why)}"


def _counted(match, verdict):
    """Shorten how many cases support or contradict a claim; of one that holds in part, the former are enough."""
    count, total, outcome, fail, undecided = match.groups()
    if outcome == "support" and verdict == "in part":
        return f"{count}/{total} hold"
    first = f"{count}/{total} {'hold' if outcome == 'support' else 'fail'}"
    return first + (f", {fail} fail" if fail else "") + (f", {undecided} open" if undecided else "")


def _mark(verdict, count=""):
    return f'<b class="schedlab-{COLOURS[verdict]}">{SHAPES[verdict]} {count}{verdict}</b>'


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
    texts = [of_row(row, name) for name in ("reason", "readings")]
    reason, readings = (text if isinstance(text, str) else "" for text in texts)
    reason = reason.partition(". ")[0].rstrip(".")
    depends = "; " in readings and "holds under" in readings
    if depends and ("fails under" in readings or not CONTRADICTED.match(reason)):
        return readings
    while reason != (reason := re.sub(r" ?(\([^()]*\)|\[[^][]*\])", "", reason)):
        pass  # brackets within brackets
    return reason or readings


def _wide(content):
    return f'<div style="overflow-x: auto">{content}</div>'


def _fold(summary, content):
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def _claims(claims):
    yield '<table class="claims">'
    for row, verdict in zip(claims.to_dict("records"), standing(claims), strict=True):
        readings = f"<br>{in_html(row['readings'][0].upper() + row['readings'][1:])}." if row["readings"] else ""
        reason = f"<br>{in_html(row['reason'])}" if row["reason"] else ""
        measured = f"Measured: {in_html(row['measured'])}" if row["measured"] else ""
        cells = (
            escape(row["id"]).replace(" to ", "<br>to "),
            f"{in_html(row['statement'])}<br>Published: {in_html(row['published'])}",
            f"{measured}{reason}{readings}".removeprefix("<br>"),
            badge(verdict),
        )
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    yield "</table>"


def switch(names: Iterable[str], parts: Iterable[str], key: str) -> str:
    """Return several cards (HTML) of which one is shown at a time, chosen by its name; without a script.

    The key is unlike that of any other switch on the page.
    """
    buttons, cards, rules = [], [], []
    for place, (name, part) in enumerate(zip(names, parts, strict=True)):
        card = f"{key}-{place}"
        field = f'<input type="radio" name="{key}" id="{card}"{" checked" * (place == 0)}>'
        buttons.append(f'{field} <label for="{card}">{escape(name)}</label> ')
        cards.append(f'<div class="{card}">{part}</div>')
        rules.append(f".{key} > .{card} {{ display: none; }} .{key} > #{card}:checked ~ .{card} {{ display: block; }}")
    return f'<div class="{key}"><style>{" ".join(rules)}</style>{"".join(buttons)}{"".join(cards)}</div>'


def wall(
    lead: str,
    tiles: Iterable[tuple],
    beyond: Iterable[tuple] = (),
    notes: Iterable[str] = (),
    glossary: Iterable[tuple[str, str]] = (),
    claims: pd.DataFrame | None = None,
    defaults: Mapping[str, str] | None = None,
    others: Iterable[tuple[str, str]] = (),
) -> str:
    """Return a wall: a line (`lead`, HTML), and for each card, of the paper or beyond it, a tile with its picture.

    A tile is (address, picture, number, title, verdicts, claims). The picture is an SVG; the verdicts are numbers of
    claims; the claims are rows of the ledger, each after its verdict, and in a fold where there is no picture. `notes`
    are what the reader of several figures must know, `glossary` its words, each with what it means. `defaults`
    says, of readings of what the paper leaves open, what is assumed otherwise; `others` why no claim names a figure.
    """
    parts = [f'<p class="lead">{lead}</p>']
    if claims is not None and len(claims):
        parts.append(_fold("all claims, in a line each", _in_lines(in_words(claims), defaults, others)))
    if lines := "".join(f"<li><b>{escape(word)}</b>: {in_html(meaning)}</li>" for word, meaning in glossary):
        parts.append(_fold("words and codes of this paper", f"<ul>{lines}</ul>"))
    parts.append(_tiled(tiles))
    if beyond := _tiled(beyond):
        parts.append(f'<p class="fine">Behind the figures, and beyond the paper</p>{beyond}')
    if readings := "".join(f"<p>{in_html(text)}</p>" for text in notes):
        parts.append(_fold("sample and readings of these figures", readings))
    return f'{STYLE}<div class="schedlab-wall">{"".join(parts)}</div>'


def findings(sentences: Iterable[tuple[str, Mapping[str, str], str]]) -> str:
    """Return sentences, each with the verdicts, by id, of the claims on which it rests, and a warning or ""."""
    lines = []
    for sentence, claims, warning in sentences:
        groups = {}
        for name, verdict in claims.items():
            groups.setdefault(verdict, []).append(name)
        marks = [
            f'<span class="schedlab-{COLOURS[verdict]}">{SHAPES[verdict]} {escape(", ".join(names))}: {verdict}</span>'
            for verdict, names in groups.items()
        ]
        fine = f' <span class="fine">({", ".join(marks)})</span>' if marks else ""
        lines.append(f"<li>{in_html(sentence)}{fine}{note(warning) if warning else ''}</li>")
    return f'{STYLE}<div class="schedlab-card"><ul>{"".join(lines)}</ul></div>'


def _tiled(tiles):
    """Return tiles with their pictures, those without below, and behind a fold what these claim."""
    tiles = list(tiles)
    groups = [[tile for tile in tiles if bool(tile[1]) == drawn] for drawn in (True, False)]
    rows = [f'<div class="tiles">{"".join(map(_tile, group))}</div>' for group in groups if group]
    lines = []
    for _, _, number, title, _, *claims in groups[1]:
        if claimed := "".join(map(_beside, *claims)) if claims else "":
            lines.append(f'<div class="line">{_named(number, title)}{claimed}</div>')
    if lines:
        rows.append(_fold("published beside measured", f'<div class="lines">{"".join(lines)}</div>'))
    return "".join(rows)


def _tile(tile):
    address, picture, number, title, verdicts, *_ = tile
    tag, link = ("a", f' href="{escape(address)}"') if address else ("div", "")
    several = len(verdicts) > 1
    state = " ".join(_state(verdict, f" {count if several else verdict}") for verdict, count in verdicts.items())
    if number and not verdicts:
        state = '<span class="state schedlab-open">no claim</span>'
    return f'<{tag} class="tile"{link}>{picture}{_named(number, title)} {state}</{tag}>'


def _named(number, title):
    title = escape(unbroken(title))
    return f"<b>{escape(number)}</b> {title}" if number else title


def _beside(claim):
    """Say what the paper claims beside what was measured, in a line."""
    verdict, row = claim
    measured = readable(str(of_row(row, "measured")))
    measured = f"<br>Measured: {in_html(measured)}" if measured else ""
    return f"<div>{_state(verdict)} {escape(row['id'])}: {in_html(_claimed(row))}{measured}</div>"


def _state(verdict, count=""):
    return f'<span class="state schedlab-{COLOURS[verdict]}" title="{verdict}">{SHAPES[verdict]}{count}</span>'

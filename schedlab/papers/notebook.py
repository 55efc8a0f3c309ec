"""Cards as they stand in a notebook, with buttons that simulate again."""

import os

from IPython.display import HTML, display, update_display

from schedlab.charts.theme import ON_PAGE

from .cards import Card
from .walls import Family


def display_card(card: Card) -> None:
    """Display a card: number, title and verdict, the picture, what it shows, and buttons that simulate again."""
    head = display(HTML(card.head(card.name)), display_id=True)
    picture = None if card.chart is None else display(card.chart, display_id=True)
    below = display(HTML(card.below()), display_id=True)

    def show(size):
        new = card.again(size)
        for place, part in ((head, HTML(new.head(new.name))), (picture, new.chart), (below, HTML(new.below()))):
            if place is not None and part is not None:
                update_display(part, display_id=place.display_id)

    if card.paper:
        _display_buttons(show, [card])


def display_family(family: Family) -> None:
    """Display cards of which one is shown at a time, and buttons that simulate all of them again."""
    place = display(HTML(family._repr_html_()), display_id=True)

    def show(size):
        update_display(
            HTML(Family(*(card.again(size) for card in family.cards))._repr_html_()), display_id=place.display_id
        )

    _display_buttons(show, family.cards)


def _display_buttons(show, cards):
    if ON_PAGE in os.environ:  # on a page there is no Python behind a button
        from schedlab.web.figures import again

        for card in cards:
            if card.in_page is not None:
                display(HTML(again(card.in_page(), card.number)))
        return
    try:
        from schedlab.show.widgets import simulating
    except ModuleNotFoundError:  # without the extra "lab" there are no buttons
        return
    display(simulating(show, quick=any(card.now is not None or not card.kept for card in cards)))

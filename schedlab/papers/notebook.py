"""Cards as they stand in a notebook, with a button that simulates again."""

import os

import ipywidgets
from IPython.display import HTML, display, update_display

from schedlab.charts.theme import ON_PAGE

from .cards import Card


def display_card(card: Card) -> None:
    """Display a card: number, title and verdict, the picture, what it shows, and a button that simulates again."""
    head = display(HTML(card.head()), display_id=True)
    picture = None if card.chart is None else display(card.chart, display_id=True)
    below = display(HTML(card.below()), display_id=True)
    if not card.paper or ON_PAGE in os.environ:  # on a page there is no Python behind the button
        return
    buttons = [
        ipywidgets.Button(description="Simulate again", tooltip="the quick size, in seconds"),
        ipywidgets.Button(description="at full size", tooltip="may take an hour; it resumes where it stopped"),
    ]
    output = ipywidgets.Output()

    def simulate(size):
        for button in buttons:
            button.disabled = True
        output.clear_output()
        try:
            with output:
                new = card.again(size)
            parts = (head, HTML(new.head())), (picture, new.chart), (below, HTML(new.below()))
            for place, part in parts:
                if place is not None and part is not None:
                    update_display(part, display_id=place.display_id)
        finally:
            for button in buttons:
                button.disabled = False

    for button, size in zip(buttons, ("quick", "full"), strict=True):
        button.on_click(lambda _, size=size: simulate(size))
    display(ipywidgets.VBox([ipywidgets.HBox(buttons), output]))

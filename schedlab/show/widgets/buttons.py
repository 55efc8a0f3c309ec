"""Buttons below a figure that simulate it again."""

from collections.abc import Callable

import ipywidgets

from .controls import NARROW


def simulating(simulate: Callable[[str], None], *, quick: bool = True) -> ipywidgets.VBox:
    """Return buttons that simulate again, at the quick or at the full size, with room for progress bars and errors.

    Parameters
    ----------
    simulate : function of the size
        The buttons are disabled while it runs.
    quick : bool
        Whether there is a quick size.

    Examples
    --------
    >>> import schedlab as sl
    >>> row, _ = sl.widgets.simulating(print).children
    >>> [button.description for button in row.children]
    ['Simulate again', 'at full size']
    """
    again = ipywidgets.Button(description="Simulate again", tooltip="Some of the kept runs, in seconds", layout=NARROW)
    full = ipywidgets.Button(
        description="at full size", tooltip="All of them: up to an hour; it goes on where it was stopped", layout=NARROW
    )
    output = ipywidgets.Output()

    def clicked(size):
        again.disabled = full.disabled = True
        output.clear_output()
        try:
            with output:
                simulate(size)
        finally:
            again.disabled = full.disabled = False

    again.on_click(lambda _: clicked("quick"))
    full.on_click(lambda _: clicked("full"))
    full.description = full.description if quick else "Simulate at full size"
    return ipywidgets.VBox([ipywidgets.HBox([again, full] if quick else [full]), output])

"""Progress of a grid, with tqdm's estimate of the remaining time: in a notebook, a terminal, or as lines in a log."""

import sys

from tqdm.auto import tqdm

from schedlab._runtime.remarks import progress as is_on

SILENT = 1.0  # seconds; a shorter grid prints nothing
LINES = 60.0  # seconds between two lines in a log file


class Progress:
    """The progress bar of so many runs, with a label; if standard error is a file, lines instead."""

    def __init__(self, count: int, activity: str, visible: bool):
        visible = visible and is_on() and sys.stderr is not None
        self.failed = 0
        self.in_lines = visible and not getattr(sys.stderr, "isatty", bool)() and "ipykernel" not in sys.modules
        lines = {"file": _Lines(), "mininterval": LINES, "maxinterval": LINES, "ncols": 80} if self.in_lines else {}
        # No smoothing: the costs of runs differ, and workers take them in turn.
        settings = {"delay": SILENT, "smoothing": 0, "disable": not visible, "leave": False} | lines
        self.bar = tqdm(total=count, desc=activity, unit=" runs", **settings)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.in_lines and self.bar.format_dict["elapsed"] > SILENT:
            self.bar.refresh()  # the last line
        self.bar.close()

    def update(self, failed: bool) -> None:
        """Record that a run is done, and whether it failed."""
        self.failed += failed
        if failed:
            self.bar.set_postfix(failed=self.failed, refresh=False)
        self.bar.update()


class _Lines:
    """A file for a progress bar that has no terminal: what would be drawn over itself becomes lines."""

    def write(self, text):
        if text := text.strip("\r\n "):
            print(text, file=sys.stderr, flush=True)

    def flush(self):
        """Do nothing: each line is written at once."""

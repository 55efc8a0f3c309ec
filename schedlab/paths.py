"""Where the project's data and the user's cache lie. Everything else asks here."""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_dir() -> Path:
    """Give the folder of small data files: inside the installed package, or `data/` of a checkout."""
    installed = _PACKAGE / "data"
    return installed if installed.is_dir() else _PACKAGE.parent / "data"


def cache_dir(room: str) -> Path:
    """Give one room ("numba", "traces", "tables") of the cache folder, which need not exist yet.

    The environment variable ``SCHEDLAB_CACHE`` names the cache folder; without it, it is the
    platform's usual place (``~/.cache/schedlab`` unless ``XDG_CACHE_HOME`` says otherwise).
    """
    base = os.environ.get("SCHEDLAB_CACHE")
    if base:
        return Path(base).expanduser() / room
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "schedlab" / room

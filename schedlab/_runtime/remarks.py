"""What schedlab says beside its results: warnings of one family, a logger, and progress that one switch turns off."""

import logging
import os
import warnings

logger = logging.getLogger("schedlab")
logger.addHandler(logging.NullHandler())  # nobody is told who has not asked
PROGRESS = "SCHEDLAB_PROGRESS"  # the variable of the environment, which processes inherit


class SchedlabWarning(UserWarning):
    """The family of all warnings of schedlab.

    Examples
    --------
    A script that rather stops than goes on with a doubtful log:

    >>> import warnings
    >>> import schedlab as sl
    >>> warnings.simplefilter("error", sl.SchedlabWarning)
    """


def warn(message: str) -> None:
    """Warn whoever called the function that calls this."""
    warnings.warn(message, SchedlabWarning, stacklevel=3)


def progress(on: bool | None = None) -> bool:
    """Turn progress bars and messages of long work on or off, and tell whether they are on.

    Parameters
    ----------
    on : bool, optional
        Sets the environment variable SCHEDLAB_PROGRESS to 1 or 0, also for processes that this one starts. Default:
        leave it as it is; where it is not set, progress is on.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.progress(False)
    False
    >>> sl.progress(True)
    True
    """
    if on is not None:
        os.environ[PROGRESS] = str(int(bool(on)))
    return os.environ.get(PROGRESS) != "0"

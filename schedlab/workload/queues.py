"""Time limits that follow from queue names, for machines whose users gave no estimates."""

import re
from collections.abc import Mapping

HOUR = 3_600  # seconds
# SDSC Paragon, 1995 and 1996: q32m and qf32m are for jobs of medium length on 32 nodes.
HOURS = {"t": 1, "s": 1, "m": 4, "l": 12, "ll": 12}
NAME = re.compile(r"qf?\d+(ll|[tsml])")


def queue_limits(queues: Mapping[int, str]) -> dict[int, int]:
    """Return the time limits (seconds) of the queues whose names indicate one.

    Parameters
    ----------
    queues : mapping of int to str
        Names by number, as in `schedlab.workload.swf.Header.queues`.

    Examples
    --------
    >>> queue_limits({1: "q4t", 2: "qf32m", 3: "standby"})
    {1: 3600, 2: 14400}
    """
    matches = {number: NAME.fullmatch(name.strip()) for number, name in queues.items()}
    return {number: HOUR * HOURS[match[1]] for number, match in matches.items() if match}

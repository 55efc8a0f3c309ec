"""Time limits that follow from queue names, for machines whose users gave no estimates."""

import re
from collections.abc import Mapping

HOUR = 3_600  # seconds
# SDSC Paragon, 1995 and 1996: q32m and qf32m are for jobs of medium length on 32 nodes.
HOURS = {"t": 1, "s": 1, "m": 4, "l": 12, "ll": 12}
NAME = re.compile(r"qf?\d+(ll|[tsml])")


def queue_limits(queues: Mapping[int, str]) -> dict[int, int]:
    """Return the time limits, in seconds, of the queues whose names indicate one; names by number."""
    matches = {number: NAME.fullmatch(name.strip()) for number, name in queues.items()}
    return {number: HOUR * HOURS[match[1]] for number, match in matches.items() if match}

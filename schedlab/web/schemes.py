"""Schemes as the page knows them: the kernel of each, and the rules with which it is called."""

from schedlab.kernels.sites import TASKS_START
from schedlab.schemes import DPSA, EASY, FCFS, Conservative, Scheme
from schedlab.schemes.conservative import COMPRESSION
from schedlab.schemes.lookahead import SEARCHES, VARIANTS
from schedlab.schemes.moldable import FairShareMoldable, GreedyMoldable, IterativeMoldable, Moldable
from schedlab.schemes.rigid import LOOKS, MANY
from schedlab.schemes.shredding import Shredding

EXACT = 2**53 - 1  # the largest whole number of JavaScript; a bound that no search reaches


def described(scheme: Scheme) -> dict:
    """Say how Python and the page call a scheme: its code, its kernel, and the rules that the kernel takes.

    Rules named in ``perJob`` are for each job of a log. ``depth`` of DPSA is None for the whole queue.
    """
    settings = {name: value for name, value in vars(scheme).items() if value != getattr(type(scheme)(), name)}
    code = f"sl.{type(scheme).__name__}({', '.join(f'{name}={value!r}' for name, value in settings.items())})"
    entry = {"code": code, "order": getattr(scheme, "order", None), "backfill": None, "perJob": [], "rules": {}}
    entry |= {"oneReservation": scheme.one_reservation, "moldable": isinstance(scheme, Moldable)}
    if isinstance(scheme, FairShareMoldable):
        return entry | {"kernel": "fair_share", "rules": {"rules": scheme.rules._asdict()}}
    if isinstance(scheme, GreedyMoldable | IterativeMoldable):
        rules = {} if isinstance(scheme, GreedyMoldable) else {"head": scheme.head or 0}
        return entry | {"kernel": "iterative" if rules else "greedy", "rules": rules}
    if isinstance(scheme, FCFS):
        return entry | {"kernel": "fcfs"}
    if isinstance(scheme, Conservative):
        passes = {"on_completion": scheme.compress_on == "completion", "repeat": scheme.repeat}
        return entry | {"kernel": "conservative", "rules": {"compression": COMPRESSION[scheme.compression]} | passes}
    if isinstance(scheme, DPSA):
        rules = {"variant": VARIANTS[scheme.variant], "ranked": False, "search": SEARCHES[scheme.search]}
        rules |= {"depth": scheme.depth, "budget": scheme.budget or EXACT, "patience": EXACT, "audit": False}
        return entry | {"kernel": "lookahead", "rules": {"settings": rules}}
    if isinstance(scheme, EASY) and scheme.reservations == 1:
        entry |= {"kernel": "easy", "rules": {"many": MANY, "looks": LOOKS}, "perJob": ["looks"]}
        return entry | {"backfill": scheme.backfill}
    if isinstance(scheme, EASY) and scheme.reservations != "all":
        return entry | {"kernel": "easy_depth", "rules": {"depth": scheme.reservations}, "backfill": scheme.backfill}
    if isinstance(scheme, Shredding) and not (scheme.flooding and scheme.local == "conservative"):
        rules = {"conservative": scheme.local == "conservative", "flooding": scheme.flooding, "release": scheme.release}
        if not scheme.release and not scheme.everywhere:
            return entry | {"kernel": "shredding", "rules": rules | {"starts": TASKS_START}}
    raise ValueError(f"{scheme} is not in the page")


def is_described(scheme: Scheme) -> bool:
    """Tell whether the page has a scheme."""
    try:
        described(scheme)
    except (ValueError, TypeError):  # of a scheme that needs settings, too
        return False
    return True

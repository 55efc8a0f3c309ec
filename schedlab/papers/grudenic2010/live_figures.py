"""The paper's live figure: DPSA beside EASY for one setting."""

import pandas as pd

from schedlab import DPSA, EASY, charts, load_trace
from schedlab.schedule.metrics import bounded_slowdown
from schedlab.schedule.simulation import simulate_many
from schedlab.web.in_page import InPage

from .grids import AUDITED, BASE, ESTIMATES, MEASURE, USERS, log

HIGHEST = 1e5  # end of the axis at any load: a wait of eleven days of a job of ten seconds
WIDTH = 640
PREFERRED = {"narrow jobs": "n", "jobs that came first": "p", "wide jobs": "w"}


def live(
    name: str = AUDITED,
    load: float = 0.85,
    variant: str = "n",
    depth: int = 1000,
    budget: int = 0,
    estimates: str = USERS,
    tau: float = 10,
) -> tuple:
    """Compare DPSA with EASY for one setting: the distributions of the bounded slowdown, and the means.

    Parameters
    ----------
    name : str
        Log. The whole of it is simulated.
    load : float
        Offered load. Run times are scaled to it.
    variant : {"n", "p", "w"}
        Preferred jobs. Among equally good sets: narrow jobs ("n"), the first to come ("p"), or wide jobs ("w").
    depth : int
        Jobs considered behind the head. Those further back in the queue wait.
    budget : int
        Jobs tried at a pass (0: exact set). The search stops after this many.
    estimates : str
        Estimates. A job is killed when its estimate expires, unless overruns run on.
    tau : float, seconds
        Tau (s). Run times below it count as tau in the bounded slowdown.
    """
    trace = log(name, estimates) or load_trace(name)  # its error says where to get the log
    scheme = DPSA(variant=variant, depth=depth, budget=budget or None)
    runs = [(trace.scale_load(load), choice) for choice in (EASY(), scheme)]
    schedules = simulate_many(runs, overrun=ESTIMATES[estimates])
    # By its variant alone, so that it has the colour of the figures; the controls say the depth and the budget.
    jobs = dict(zip((BASE, str(DPSA(variant=variant))), (schedule.jobs for schedule in schedules), strict=True))
    slowdowns = {name: bounded_slowdown(of["turnaround"], of["run_time"], tau) for name, of in jobs.items()}
    base, chosen = (values.mean() for values in slowdowns.values())
    title = f"Mean bounded slowdown {chosen:.3g} under {scheme}, {base:.3g} under EASY"
    subtitle = f"{trace.title}, {len(trace):,} jobs"
    chart = charts.distribution(slowdowns, MEASURE, up_to=HIGHEST, title=title, subtitle=subtitle, width=WIDTH)
    return chart, charts.table(pd.DataFrame(slowdowns).agg(["mean", "median"]).rename_axis("bounded slowdown"))


def _limits(depth):
    """Say which controls have no effect, as the limits of `widgets.live`."""
    return (
        {"budget": "one job is tried anyway", "variant": "sets of one job are not equally good"} if depth == 1 else {}
    )


def _whole(name):
    return log(name) or load_trace(name)


def _beside(variant, depth, budget):
    return {str(DPSA(variant=variant)): DPSA(variant=variant, depth=depth, budget=budget or None), BASE: EASY()}


live.limits = _limits
live.in_page = InPage(
    lambda: _whole(AUDITED),
    _beside,
    "Mean bounded slowdown",
    lambda _: (HIGHEST,),
    columns=(MEASURE,),
    tau=lambda tau: tau,
)
live.groups = {"workload": ["name", "load", "estimates"], "scheme": ["variant", "depth", "budget"], "view": ["tau"]}

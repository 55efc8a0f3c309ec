"""`Sites`: the schedules of several sites that were simulated together."""

from dataclasses import dataclass

import pandas as pd

from schedlab import show
from schedlab.schedule import metrics

from .base import Schedule
from .measuring import MEANS


@dataclass(frozen=True, eq=False, repr=False)
class Sites:
    """The result of a simulation of several sites.

    Attributes
    ----------
    schedules : tuple of Schedule
        One per site, of the jobs submitted there; `machine` and `pieces` describe what ran there.
    speeds : tuple of int

    Examples
    --------
    The tasks of a sweep at site A, where the processors are held, run at site B:

    >>> import schedlab as sl
    >>> a = sl.testing.trace_of([(0, 8, 8, 6), (1, 4, 4, 8)], machine=8)
    >>> b = sl.testing.trace_of([(0, 4, 4, 8), (6, 6, 6, 5)], machine=8)
    >>> a = a.with_parameter_sweeps(1, min_procs=8, breakdown=2)
    >>> sites = sl.simulate_sites([a, b], "ojs").validate()
    >>> sites.jobs["end_time"].astype(int).tolist()
    [8, 8, 4, 12]
    >>> chart = sl.charts.gantts(dict(zip("AB", sites)), color="sweeps", label="job_number")
    """

    schedules: tuple[Schedule, ...]
    speeds: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.schedules)

    def __iter__(self):
        return iter(self.schedules)

    def __getitem__(self, site: int) -> Schedule:
        return self.schedules[site]

    def __repr__(self) -> str:
        traces = ", ".join(schedule.trace.title for schedule in self.schedules)
        notes = "".join(f"\n   {note}" for note in self.notes)
        return f"<Sites {self.schedules[0].scheme}, speeds {self.speeds}: {traces}{notes}>"

    @property
    def begins(self) -> tuple:
        """The instant of each log, when the first job of all sites arrives, that is taken as one and the same.

        A date, or seconds if the log has no dates.
        """
        return tuple(schedule.trace.at(schedule.origin) for schedule in self.schedules)

    @property
    def notes(self) -> tuple[str, ...]:
        """What every summary must say: which instants of the logs are taken as the same, if these differ."""
        begins = self.begins
        if len(set(begins)) == 1:
            return ()
        return (f"the clocks of the logs are aligned; one instant: {', '.join(map(show.instant, begins))}",)

    def _repr_html_(self) -> str:
        speeds = ", ".join(map(str, self.speeds))
        head = show.line(f"at {len(self)} sites, speeds {speeds}", strong=str(self.schedules[0].scheme))
        return show.page(head, *map(show.note, self.notes), *(part for schedule in self for part in schedule._page()))

    @property
    def jobs(self) -> pd.DataFrame:
        """The jobs of all sites; index site and job_number."""
        return pd.concat([schedule.jobs for schedule in self.schedules], keys=range(len(self)), names=["site"])

    def metrics(self, by=None, tau: float = metrics.TAU) -> pd.Series | pd.DataFrame:
        """Measure all sites together.

        The measures are jobs (how many) and the means of wait_time, turnaround (seconds), slowdown, bounded_slowdown,
        per_processor_slowdown. Without `by` also loss_of_capacity (processor-seconds, all sites) and its share of all
        processors x makespans.

        Parameters
        ----------
        by : optional
            ``"site"``: one row per site, with all measures of `Schedule.metrics`. Otherwise classes of jobs, as there.
        tau : float, seconds
            As in `Schedule.metrics`.

        Examples
        --------
        >>> import schedlab as sl
        >>> traces = [sl.model_trace("lublin", jobs=200, seed=seed).with_parameter_sweeps(0.2) for seed in (1, 2)]
        >>> sl.simulate_sites(traces, "ojs").metrics(by="site")["jobs"].astype(int).tolist()
        [200, 200]
        """
        if isinstance(by, str) and by == "site":
            table = pd.DataFrame([schedule.metrics(tau=tau) for schedule in self.schedules])
            return metrics.MeasureTable(table.set_axis(pd.RangeIndex(len(self), name="site")))
        counted = [schedule.trace.counted() for schedule in self.schedules]
        parts = [part._per_job(tau)[jobs] for part, jobs in zip(self.schedules, counted, strict=True)]
        per_job = pd.concat(parts, ignore_index=True)[list(MEANS)]
        if by is not None:
            labels = [part.classes(by)[jobs] for part, jobs in zip(self.schedules, counted, strict=True)]
            labels = pd.concat(labels, ignore_index=True)
            groups = per_job.groupby(labels, observed=False, dropna=False)
            means = groups.mean()
            means.insert(0, "jobs", groups.size())
            return metrics.MeasureTable(means)
        wholes = [schedule.metrics() for schedule in self.schedules]
        lost = sum(whole["loss_of_capacity"] for whole in wholes)
        capacity = sum(schedule.machine.procs * whole["makespan"] for schedule, whole in zip(self, wholes, strict=True))
        whole = {"loss_of_capacity": lost, "loss_of_capacity_share": lost / capacity if capacity else float("nan")}
        values = pd.concat([pd.Series({"jobs": float(len(per_job))}), per_job.mean(), pd.Series(whole)])
        return metrics.Measures(values.rename(str(self.schedules[0].scheme)))

    def validate(self) -> "Sites":
        """Check the laws of scheduling at every site (`Schedule.validate`), and return the sites."""
        for schedule in self.schedules:
            schedule.validate()
        return self

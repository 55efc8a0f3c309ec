"""What a log does not say, or says differently: estimates, the machine, parameter sweeps, speedup."""

import re
from dataclasses import replace
from numbers import Integral, Real
from typing import Self

import numpy as np
import pandas as pd

from schedlab._runtime.streams import entropy, keys, uniforms
from schedlab._runtime.text import check_known, spelt

from .conventions import check_positive, check_procs, run_times
from .copies import copied
from .filter import TOO_WIDE, repairs_of, warn_of_lost_work
from .models.common import whole_seconds
from .models.tsafrir import LEAST_JOBS, Tsafrir, fit_tsafrir
from .speedup import Amdahl, Downey, Model, Speedup

HOUR = 3_600  # seconds
# Hours by the names of queues, SDSC Paragon, 1995 and 1996: q32m and qf32m are for jobs of medium length on 32 nodes.
QUEUE_HOURS = {"t": 1, "s": 1, "m": 4, "l": 12, "ll": 12}
QUEUE_NAME = re.compile(r"qf?\d+(ll|[tsml])")


class Assumptions:
    def with_estimates(self, kind, factor: float = 2.0, seed: int = 0) -> Self:
        """Replace the users' estimates (requested times).

        Parameters
        ----------
        kind : {"exact", "factor", "tsafrir", "fitted", "queue"}, Tsafrir, or int64 array-like, shape (n_jobs,), seconds
            - "exact": the run time.
            - "factor": the run time times `factor`, rounded up.
            - "tsafrir", or a `Tsafrir`: drawn from the model of how users estimate, by Tsafrir, Etsion and Feitelson
              2005.
            - "fitted": the users' own. Missing ones are drawn from that model, fitted to the others.
            - "queue": the limit of the job's queue, if the queue's name tells it, as on the SDSC Paragon. If the run
              time is longer, or the queue has no limit, it is the run time.
            - an array: the estimates themselves, above 0. A Series is matched by job number.
        factor : float
            Used with ``"factor"``.
        seed : int
            Seed of the model.

        Notes
        -----
        The model needs the longest estimate that users may give. ``"tsafrir"`` takes the longest in this trace, rounded
        up to whole hours. To choose it, pass ``Tsafrir(longest=...)``; to fit the model to the users of a log, pass
        ``fit_tsafrir(log)``. Run times above the longest estimate are cut to it; `repaired` lists them.

        Examples
        --------
        >>> import schedlab as sl
        >>> exact = sl.model_trace("lublin", jobs=500, machine=64, seed=1)
        >>> twice, modelled = exact.with_estimates("factor", factor=2), exact.with_estimates("tsafrir")
        >>> bool((twice.jobs["requested_time"] == 2 * exact.jobs["run_time"]).all())
        True
        >>> traces = {"exact": exact, "twice the run time": twice, "model of users": modelled}
        >>> chart = sl.charts.distribution(traces, "requested_time", title="Estimates", subtitle="")
        """
        if isinstance(kind, Tsafrir):
            return self._with_modelled_estimates(kind, seed)
        table = copied(self.table)
        run = table["run_time"]
        if isinstance(kind, str):
            check_known("estimates", kind, ("exact", "factor", "tsafrir", "fitted", "queue"))
            if kind == "fitted":
                return self._with_fitted_estimates(seed)
            if kind == "queue":
                matches = {number: QUEUE_NAME.fullmatch(name.strip()) for number, name in self.header.queues.items()}
                limits = {number: HOUR * QUEUE_HOURS[match[1]] for number, match in matches.items() if match}
                limit = table["queue"].map(limits).fillna(0)
                table["requested_time"] = np.maximum(limit, run).astype("int64")
                step = f"limits of the queues, exact for the {(limit == 0).sum():,} jobs of queues without one"
                return self._with(table, f"estimates: {step}")
            if kind == "tsafrir":
                hours = -(-int(table["requested_time"].max()) // HOUR)
                return self._with_modelled_estimates(Tsafrir(longest=hours * HOUR), seed)
            if kind == "exact":
                return self._with(table.assign(requested_time=run), "estimates: exact")
            check_positive("factor", factor)
            # The factor just below 1 undoes the product's rounding error: 1.1 x 50 s are 55 s, not 56.
            table["requested_time"] = whole_seconds(np.ceil(run * factor * (1 - 1e-12)))
            return self._with(table, f"estimates: run time x {factor:g}")
        estimates = np.asarray(kind.reindex(table.index) if isinstance(kind, pd.Series) else kind, dtype="float64")
        if estimates.shape != (len(table),):
            raise ValueError(f"estimates have shape {estimates.shape}, expected one for each of the {len(table)} jobs")
        bad = np.flatnonzero(~((estimates > 0) & (estimates < np.inf)))
        if bad.size:
            job, estimate = table.index[bad[0]], estimates[bad[0]]
            raise ValueError(f"estimate of job {job} is {estimate}, expected a positive number")
        table["requested_time"] = whole_seconds(np.ceil(estimates))
        return self._with(table, "estimates: given by the caller")

    def _with_fitted_estimates(self, seed):
        """Draw missing estimates from the model fitted to those that exist."""
        missing = self.table.index.isin(self.repaired.loc[self.repaired["field"] == "requested_time", "job_number"])
        if not missing.any():
            return self._with(self.table, "estimates: none is missing")
        if (count := (~missing).sum()) < LEAST_JOBS:
            expected = f"expected at least {LEAST_JOBS} to fit the model"
            raise ValueError(f"{count} jobs have an estimate of their own, {expected}")
        run, model = self.table["run_time"], fit_tsafrir(replace(self, table=self.table[~missing]))
        drawn = np.maximum(model.assign(run.clip(upper=model.longest).to_numpy(), seed), run)
        table = self.table.assign(requested_time=self.table["requested_time"].where(~missing, drawn))
        return self._with(table, f"estimates: missing ones from the Tsafrir model fitted to the others, seed {seed}")

    def _with_modelled_estimates(self, model, seed):
        table = copied(self.table)
        run = table["run_time"]
        over = table.index[run > model.longest]
        table["run_time"] = run.clip(upper=model.longest)
        table["requested_time"] = model.assign(table["run_time"].to_numpy(), seed)
        step = f"estimates: Tsafrir model, longest {model.longest:,} s, seed {seed}"
        if over.empty:
            return self._with(table, step)
        reason = "longer than the longest estimate of the model"
        cuts = repairs_of(over, "run_time", run[over], table.loc[over, "run_time"], reason)
        changed = self._altered(table, f"{step}; {len(over):,} run times cut to the longest")
        return replace(changed, repaired=pd.concat([self.repaired, cuts], ignore_index=True))

    def cut_at_estimates(self) -> Self:
        """Cut run times at their estimates permanently, as overrun="kill" in `simulate` does for one run.

        Published clairvoyant simulations start from this: their exact estimates are the run times left after the kill.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 40, 4), (100, 20, 60, 4)], machine=8).cut_at_estimates()
        >>> trace.jobs["run_time"].tolist(), trace.history[-1]
        ([40, 20], '1 run times cut at their estimates')
        """
        over = int((self.table["run_time"] > self.table["requested_time"]).sum())
        table = copied(self.table)
        table["run_time"] = run_times(table, "kill")
        return self._altered(table, f"{over:,} run times cut at their estimates")

    def with_machine(self, machine) -> Self:
        """Put the jobs on a machine of another size; jobs wider than the machine are dropped and listed.

        Parameters
        ----------
        machine : int or Pools
            Processors of the new machine, or a machine of pools, on which a job has to fit in all resources of its
            pool; it is an error if no job fits.

        Warns
        -----
        LoadWarning
            If the omitted jobs have more than 1 % of the work. To omit them on purpose, choose the others first:
            ``trace.where("requested_procs <= 64").with_machine(64)``.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 9000, 9000, 4), (100, 20, 60, 8)], machine=8).with_machine(4)
        >>> trace.procs, len(trace), trace.dropped["reason"].tolist()
        (4, 1, ['wider than the machine (4 processors)'])
        """
        if hasattr(machine, "unfit"):  # pools, which are built on traces
            too_wide = machine.unfit(self.table, self.names)
            procs = machine.procs
            size = text = str(machine)
        else:
            check_procs(machine)
            too_wide = self.table["requested_procs"] > machine
            procs = int(machine)
            size = f"{procs} processors"
            text = f"machine of {procs:,} processors"
        if too_wide.all():
            raise ValueError(f"no job of {self.name} fits on {size}")
        gone = self.table[too_wide]
        gone.insert(0, "reason", f"{TOO_WIDE} ({size})")
        kept = self.table[~too_wide]
        loss = warn_of_lost_work(self.name, gone, kept, stacklevel=3)
        changed = self._altered(kept, f"{text}{loss and ': '}{loss}")
        return replace(changed, procs=procs, dropped=pd.concat([self.dropped, gone]))

    def with_parameter_sweeps(
        self, fraction: float = 0.05, min_procs: int = 9, breakdown: int = 10, seed: int = 0, of: str = "eligible"
    ) -> Self:
        """Mark jobs as parameter sweeps: many independent sequential tasks, submitted as one parallel job.

        Parameters
        ----------
        fraction : float
            Share of the jobs that become sweeps, from 0 to 1.
        min_procs : int
            Only jobs with at least this many processors, 1 or more, are eligible.
        breakdown : int
            Tasks per processor of a sweep, at least 1. A task takes this many times less than the job.
        seed : int
            Seed of the random choice. It depends on job numbers only: whatever the load, the same jobs are chosen, and
            a smaller share is a subset of a larger one.
        of : {"eligible", "all"}
            What the share is of. If fewer jobs are eligible than needed, all of these are taken.

        Returns
        -------
        Trace
            With a column breakdown, 0 for ordinary jobs. Earlier marks are removed.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
        >>> trace = trace.with_parameter_sweeps(fraction=0.2, breakdown=10)
        >>> sorted(trace.jobs["breakdown"].unique().tolist())
        [0, 10]
        >>> bool(trace.jobs.query("breakdown > 0")["requested_procs"].min() >= 9)
        True

        References
        ----------
        Kurian, Balaji and Sadayappan, "Opportune job shredding", The Ohio State University, 2003.
        """
        if isinstance(fraction, bool) or not (isinstance(fraction, Real) and 0 <= fraction <= 1):
            raise ValueError(f"fraction must be a share from 0 to 1, got {spelt(fraction)}")
        check_known("of", of, ("eligible", "all"))
        for name, value in (("min_procs", min_procs), ("breakdown", breakdown)):
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {spelt(value)}")
        seed = entropy(seed)
        table = copied(self.table)
        # A job that takes no time has no meaningful tasks.
        lasts = np.minimum(table["run_time"], table["requested_time"]) > 0
        eligible = np.flatnonzero((table["requested_procs"] >= min_procs) & lasts)
        wanted = round(fraction * (len(table) if of == "all" else eligible.size))
        drawn = np.argsort(keys(seed, table.index.to_numpy()[eligible]), kind="stable")[:wanted]
        marks = np.zeros(len(table), "int64")
        marks[eligible[drawn]] = breakdown
        table["breakdown"] = marks
        step = f"{drawn.size:,} parameter sweeps of breakdown {breakdown}: {fraction:.4g} of the {of} jobs"
        step += f", from {min_procs} processors, seed {seed}"
        if wanted > eligible.size:
            step += f"; {wanted:,} asked for, all {eligible.size:,} eligible jobs taken"
        return self._with(table, step)

    def with_speedup(self, model: Model, share: float = 1.0, seed: int = 0) -> Self:
        """Make jobs moldable: say how they speed up, so that a scheme may choose their processors.

        On the processors that it requests, a job runs as in the trace.

        Parameters
        ----------
        model : Downey, Amdahl or Speedup
            The speedup curves, up to the size of the machine, and how the parameters of each job are drawn.
        share : float
            Probability that a job is moldable, from 0 to 1. The other jobs are rigid. They have a speedup too, so that
            they count in the effective load.
        seed : int
            Seed of the random draws. They depend on job numbers only: a job has the same speedup under every scheme,
            load and share, and in every part of the trace. A job that is moldable at a smaller share is so at a larger
            one.

        Returns
        -------
        Trace
            With a column moldable, and the model's own columns (Downey: parallelism and sigma; Amdahl: serial_share).
            Those of an earlier call are removed.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=500, machine=64).with_speedup(sl.Downey(A="system", sigma=(0, 2)))
        >>> trace.scale_load(0.7, by="effective").history[-1][:14]
        'effective load'
        """
        if not isinstance(model, Model):
            raise TypeError(f"model is {spelt(model)}, expected one such as Downey(A='system', sigma=(0, 2))")
        if isinstance(share, bool) or not (isinstance(share, Real) and 0 <= share <= 1):
            raise ValueError(f"share must be from 0 to 1, got {spelt(share)}")
        seed = entropy(seed)
        earlier = ("moldable", *(column for law in (Downey, Amdahl, Speedup) for column in law.columns))
        table = self.table.drop(columns=list(earlier), errors="ignore")
        numbers = table.index.to_numpy()
        moldable = uniforms(seed, "moldable", numbers) < share
        drawn = model.draw(numbers, table["requested_procs"].to_numpy(), self.procs, seed)
        table = table.assign(moldable=moldable, **drawn)
        model.laws(table, self.procs)  # checks the curve now
        step = f"speedup {model}, seed {seed}: {moldable.sum():,} of {len(table):,} jobs moldable"
        return replace(self._with(table, step), speedup=model)

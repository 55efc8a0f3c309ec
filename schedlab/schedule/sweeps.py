"""The parameter sweeps of a schedule: their tasks, and the parallel jobs that ran the rest of them."""

import numpy as np
import pandas as pd


def sweeps(schedule) -> pd.DataFrame:
    """Show what held processors for each sweep (`schedlab.schedule.Schedule.sweeps`)."""
    outcome = schedule.outcome
    if not outcome.in_pieces:
        raise ValueError(f"sweeps needs a scheme that runs the tasks of sweeps; {schedule.scheme} runs whole jobs")
    jobs = schedule.jobs
    table = jobs.loc[jobs["breakdown"] > 0, ["requested_procs", "run_time", "breakdown", "tasks_alone"]]
    # The pieces of all sites, since tasks run anywhere.
    columns = (np.concatenate(column) for column in zip(*outcome.shared.pieces, strict=True))
    pieces = pd.DataFrame(dict(zip(outcome.pieces._fields, columns, strict=True)))
    pieces = pieces[pieces["home"] == schedule.site]
    pieces = pieces.assign(
        job_number=jobs.index.to_numpy()[pieces["job"]],
        lasts=(pieces["end"] - pieces["start"]) / outcome.tick,
    )
    pieces["area"] = pieces["lasts"] * pieces["procs"]
    apart = pieces[pieces["tasks"] > 0].groupby("job_number")
    joint = pieces[pieces["tasks"] == 0].groupby("job_number")
    return table.rename(columns={"requested_procs": "procs"}).assign(
        tasks=_for_each(table, apart["tasks"].sum()),
        tasks_procs=_for_each(table, apart["procs"].sum()),
        tasks_area=_for_each(table, apart["area"].sum()),
        shortest=apart["lasts"].min(),
        longest=apart["lasts"].max(),
        parallel_time=_for_each(table, joint["lasts"].max()),  # its pieces start together
    )


def _for_each(table, values):
    """Return a value for each sweep, 0 if it has none."""
    return values.reindex(table.index, fill_value=0)

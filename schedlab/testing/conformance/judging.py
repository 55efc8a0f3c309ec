"""What a simulator made of the probes: which conventions it follows, and where it follows none."""

from collections.abc import Mapping
from functools import cache
from numbers import Real
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab import show
from schedlab._runtime.text import check_known, plain
from schedlab.machine import Flat
from schedlab.schedule import Schedule
from schedlab.schedule.simulation import simulate
from schedlab.schemes import Scheme, by_name
from schedlab.workload.trace import Trace

from .files import LIMIT, read_starts
from .logs import judge_log
from .suite import KINDS, MOST_NAMED, NONE, Probe, mistakes, probe, probes

MOST_SHOWN = 3  # probes of another scheme that are not folded away
SUFFIXES = (".swf", ".csv", ".txt", ".data", ".out")  # of files of probes, in upper or lower case, also with .gz


def judge(
    given: str | PathLike | Scheme | Mapping[str, Mapping[int, int]] | pd.DataFrame | pd.Series | Schedule,
    scheme: str | None = None,
    *,
    trace: Trace | None = None,
    **conventions,
):
    """Say which conventions a simulator follows.

    Parameters
    ----------
    given : path, Scheme or mapping
        - A folder with one file per probe, named like its log (``06-candidates-against-the-head.csv``). Formats, also
          compressed (.gz): SWF with waits; the jobs file of Batsim or evalys, or any CSV with columns for the job and
          its start; a CSV of these two columns without a header; AccaSim's dispatching plan. The logs themselves may
          be in the folder, too.
        - A schedlab scheme, which is run on the probes of its kind.
        - The starts themselves, by name of the probe and job number.
    scheme : {"FCFS", "SJF", "EASY", "conservative"}, optional
        Judge only the probes that test this scheme. Default: the probes that have a file; for a scheme, those of its
        kind.
    trace : Trace, optional
        Judge a whole log instead of the probes: the log that was simulated. `given` is then the simulator's output, as
        one file in any of these formats, or of CQSim, also compressed; a table with the same columns, or with an index
        of job numbers; a Series of starts by job number; or a `Schedule`, whose trace is the default.
    **conventions
        overrun and events, as in `simulate`; only for a scheme.

    Returns
    -------
    Verdicts
        One row per probe.
    LogVerdict
        For a whole log: the laws that the output breaks, the settings that give all its starts, and the first
        difference from the nearest one.

    Raises
    ------
    ValueError
        Names file and line of what cannot be read. Also if no probe has a file, for an unknown probe, or for
        conventions without a scheme.
    TypeError
        If `given` is something else.

    Examples
    --------
    >>> import schedlab as sl
    >>> bool(sl.conformance.judge(sl.EASY(), events="each")["follows"].all())
    True
    >>> starts = {"candidates-against-the-head": {1: 0, 2: 22, 3: 2}}  # of each job, from another simulator
    >>> sl.conformance.judge(starts)[["probe", "follows", "convention"]].values.tolist()
    [[6, False, 'whatever fits starts']]

    A whole log, here as another simulator might give it, counted from the first submission:

    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=3).scale_load(0.9)
    >>> output = sl.simulate(trace, sl.EASY(backfill="sjf")).jobs[["submit_time", "start_time"]] - 1_000
    >>> verdict = sl.conformance.judge(output, trace=trace)
    >>> verdict.passed, verdict.candidates.loc[0, "scheme"], verdict.candidates.loc[0, "agree"].item()
    (True, 'EASY-SJBF', 200)
    """
    _check_given(given, trace, conventions)
    if trace is not None or isinstance(given, pd.DataFrame | pd.Series | Schedule):
        given = given if not isinstance(given, Scheme) else simulate(trace, given, **conventions)
        return judge_log(given, trace, scheme)
    if scheme is None and isinstance(given, Scheme):
        scheme = _kind_of(given)
    known = probes() if scheme is None else [probe for probe in probes() if probe.scheme == _kind(scheme)]
    if isinstance(given, Scheme):
        starts = {probe.name: _simulated(probe, given, conventions) for probe in known}
    elif isinstance(given, Mapping):
        for name in given:
            check_known("probe", name, [probe.name for probe in probes()])
        if not given:
            raise ValueError("no probe is given, expected the starts of one or more, by the name of the probe")
        starts = {probe.name: _whole_starts(probe, given[probe.name]) for probe in known if probe.name in given}
        if not starts:
            names = ", ".join(probe.name for probe in known)
            raise ValueError(f"none of the probes given tests {scheme}; these do: {names}")
    else:
        files = _files(Path(given), known)
        starts = {probe.name: read_starts(files[probe.name], probe) for probe in known if probe.name in files}
        if not starts:
            example = f"{known[0].path.stem}.csv"
            raise ValueError(f"{plain(str(given))}: no file of any probe, expected such as {example}")
    rows = [verdict_of(probe, starts[probe.name]) for probe in known if probe.name in starts]
    return Verdicts(rows, columns=["probe", "scheme", "title", "starts", "follows", "convention", "words"])


def _check_given(subject, trace, conventions):
    """Raise if `judge` was given what it cannot judge, or conventions that it would not use."""
    if not isinstance(subject, str | PathLike | Scheme | pd.DataFrame | pd.Series | Schedule | Mapping) or (
        trace is not None and isinstance(subject, Mapping)
    ):
        kind_of_object = (
            f"the class {subject.__name__}"
            if isinstance(subject, type)
            else f"an object of type {type(subject).__name__}"
        )
        if trace is None:
            expected = (
                "the path of a folder with results, a scheme such as sl.EASY(), or the starts by probe and job number; "
                "for a whole log a path, table, Series or Schedule, with trace="
            )
        else:
            expected = (
                "the path of a file with starts, a table, a Series of starts by job number, a Schedule or a scheme"
            )
        raise TypeError(f"judge was given {kind_of_object}, expected {expected}")
    if isinstance(subject, str) and not Path(subject).exists() and subject.casefold() in by_name():
        raise ValueError(
            f"{subject}: no such file or folder; for a scheme expected an instance of it, such as sl.EASY()"
        )
    if conventions and not isinstance(subject, Scheme):
        raise ValueError(
            f"{', '.join(conventions)}: only for a scheme, which judge runs; results are judged as they are"
        )


def _whole_starts(probe, by_job):
    """Return the starts of a probe by job number, after a check: jobs of the probe, and whole seconds."""
    if not hasattr(by_job, "items"):
        raise ValueError(f"{probe.name}: the starts are {by_job!r}, expected the start of each job by its number")
    jobs, starts = probe.records.index.tolist(), {}
    for job, start in by_job.items():
        if job not in jobs:
            raise ValueError(f"{probe.name}: there is no job {job!r}, expected numbers of {', '.join(map(str, jobs))}")
        if job in starts:
            raise ValueError(f"{probe.name}: job {job} is given a second time, expected one start of each job")
        real = isinstance(start, Real) and not isinstance(start, bool)
        if not (real and abs(start) < LIMIT and abs(start - round(start)) < 0.01):
            expected = "a whole number of seconds below 2**53"
            raise ValueError(f"{probe.name}: job {job} starts at {start!r}, expected {expected}")
        starts[job] = round(start)
    return starts


def _kind(scheme):
    return check_known("scheme", scheme, KINDS)


def _kind_of(scheme):
    if scheme.in_order:
        return "FCFS"
    if scheme.one_reservation:
        return "EASY"
    if scheme.promises(Flat(1)):
        return "conservative"
    raise ValueError(f'{scheme}: say which probes it should be judged by, with scheme="EASY"')


def _simulated(probe, scheme, conventions):
    schedule = simulate(probe.trace, scheme, **conventions)
    return dict(zip(schedule.trace.table.index.tolist(), schedule.start.tolist(), strict=True))


def _files(folder, known):
    """Return the files of probes in a folder, by the name of the probe, without copies of the logs."""
    if not folder.is_dir():
        problem = "a file, expected a folder" if folder.exists() else "no such folder, expected one"
        whole = "; a file of a whole log needs trace=" if folder.exists() else ""
        raise ValueError(f"{plain(str(folder))}: {problem} with a file for each probe{whole}")
    of_names = {f"{probe.path.stem}{suffix}{gz}": probe for probe in known for suffix in SUFFIXES for gz in ("", ".gz")}
    files = {}
    for path in sorted(folder.iterdir()):
        probe = of_names.get(path.name.casefold())
        if probe is None or not path.is_file() or path.read_bytes() == probe.path.read_bytes():
            continue
        if probe.name in files:
            both = f"{files[probe.name].name} and {path.name}"
            raise ValueError(
                f"{plain(f'{folder}: {both}')} are both of probe {probe.number}, expected one file of each"
            )
        files[probe.name] = path
    return files


def verdict_of(probe, starts):
    starts = tuple(int(starts.get(job, NONE)) for job in probe.records.index)
    answer = _answer(probe, starts)
    about = (probe.number, probe.scheme, probe.title, starts)
    if answer is not None:
        return (*about, answer.follows, answer.convention, answer.words)
    return (*about, False, "", f"{fault(probe, starts)}{_as_does(mistakes()[probe.number].get(starts, ()))}")


def _answer(probe, starts):
    return next((answer for answer in probe.answers if answer.starts == starts), None)


def _as_does(names):
    """Name the mistakes that give the same schedule, unless there are too many to tell anything."""
    return f"; so does a scheduler that {' or '.join(names)}" if 0 < len(names) <= MOST_NAMED else ""


def fault(probe: Probe, starts: tuple[int, ...]) -> str:
    """Say in a sentence what is wrong with a schedule that follows no known convention.

    Parameters
    ----------
    probe : Probe
        The simulated log.
    starts : tuple of int
        Of jobs 1, 2, ...

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.conformance.fault(sl.conformance.probe(1), starts=(0, 20, 30, 40))
    'job 2 is first in the queue and fits at 10, but starts at 20'
    """
    records = probe.records
    submit, run, procs, estimate = (
        records[name].tolist() for name in ("submit_time", "run_time", "requested_procs", "requested_time")
    )
    estimate = [run[i] if estimate[i] < 0 else estimate[i] for i in range(len(run))]
    jobs = range(len(run))
    if missing := [i for i in jobs if starts[i] == NONE]:
        return f"job {missing[0] + 1} never starts"
    for i in jobs:
        if starts[i] < submit[i]:
            return f"job {i + 1} starts at {starts[i]}, before its submission at {submit[i]}"
    for now in sorted({*starts}):
        held = sum(procs[i] for i in jobs if starts[i] <= now < starts[i] + min(run[i], estimate[i]))
        if held > probe.procs:
            return f"at {now} jobs hold {held} processors of {probe.procs}"
    order = sorted(jobs, key=lambda i: (submit[i], list(records.index)[i]))
    for i in sorted(jobs, key=lambda i: starts[i]):
        now = starts[i]
        waiting = [j for j in order if submit[j] <= now < starts[j]]
        ahead = [j for j in waiting if order.index(j) < order.index(i)]
        if not ahead:
            continue
        head = ahead[0]
        if probe.scheme == "conservative":
            continue
        if probe.scheme in ("FCFS", "SJF"):
            return f"job {i + 1} starts at {now}, ahead of job {head + 1}, which waits since {submit[head]}"
        others = [j for j in jobs if j != i and starts[j] <= now < starts[j] + run[j]]
        shadow, left = _shadow(head, now, others, starts, estimate, procs, probe.procs)
        if now + estimate[i] > shadow and procs[i] > left:
            delayed = f", and waits until {starts[head]}" if starts[head] > shadow else ""
            return (
                f"job {i + 1} starts at {now} and may run until {now + estimate[i]}, though job {head + 1}, the head "
                f"of the queue, could start at {shadow}{delayed}"
            )
    for i in order if probe.scheme != "conservative" else ():
        free = [
            now
            for now in sorted({submit[i], *(starts[j] + run[j] for j in jobs)})
            if submit[i] <= now < starts[i]
            and not any(submit[j] <= now < starts[j] for j in order[: order.index(i)])
            and probe.procs - sum(procs[j] for j in jobs if starts[j] <= now < starts[j] + run[j]) >= procs[i]
        ]
        if free:
            return f"job {i + 1} is first in the queue and fits at {free[0]}, but starts at {starts[i]}"
    return _first_difference(probe, starts)


def _first_difference(probe, starts):
    """Say where a schedule leaves the one that it follows longest, of those that are right."""
    differences = []
    for answer in probe.answers:
        if answer.follows:
            pairs = zip(starts, answer.starts, strict=True)
            differ = [(min(start, right), i, right) for i, (start, right) in enumerate(pairs) if start != right]
            differences.append((*min(differ, default=(np.inf, 0, 0)), answer.convention))
    instant, i, right, convention = max(differences, key=lambda difference: difference[0])
    if instant == np.inf:
        return "follows a known convention"
    return f"job {i + 1} starts at {starts[i]}, but at {right} if {convention}"


def _shadow(head, now, running, starts, estimate, procs, machine):
    """Return when the head of the queue could start, by running jobs' estimates, and the processors it leaves over."""
    free = machine - sum(procs[j] for j in running)
    shadow = now
    ends = sorted((max(starts[j] + estimate[j], now + 1), procs[j]) for j in running)
    for end, freed in ends:
        if free >= procs[head] and end > shadow:
            break
        free, shadow = free + freed, end
    return shadow, free - procs[head]


class Verdicts(pd.DataFrame):
    """The result of `judge`; it displays itself in words.

    Columns: probe, scheme, title, starts, follows (whether the starts follow any convention of the probe's scheme),
    convention (empty if it is unknown), and words.

    Examples
    --------
    >>> import schedlab as sl
    >>> verdicts = sl.conformance.judge(sl.FCFS())
    >>> verdicts.passed, verdicts[["probe", "convention"]].values.tolist()[:2]
    (True, [[10, 'in the order of the log'], [11, 'nothing passes the head']])
    """

    @property
    def _constructor(self):
        return pd.DataFrame

    @property
    def passed(self) -> bool:
        """Whether every probe follows its scheme, and one convention explains all probes of a scheme."""
        return bool(self["follows"].all()) and not self.contradictions

    @property
    def conventions(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The conventions that explain all probes, by scheme and choice ("EASY", "events"); not of refused schemes."""
        refused = {*self.loc[~self["follows"], "scheme"], *(scheme for scheme, _ in self._contradicted())}
        return {key: names for key, (names, _) in self._common().items() if key[0] not in refused}

    @property
    def contradictions(self) -> tuple[str, ...]:
        """Where no single convention explains all probes of a scheme, in a sentence each."""
        return tuple(
            f"{scheme}: probes {', '.join(map(str, numbers))} follow no single convention about {choice}"
            for (scheme, choice), numbers in self._contradicted().items()
        )

    def _contradicted(self):
        return {key: numbers for key, (names, numbers) in self._common().items() if not names}

    def _common(self):
        """Return the conventions that all answers have in common and the probes that say so, by scheme and choice."""
        common = {}
        for row in self[self["follows"]].itertuples():
            answer = _answer(probe(row.probe), row.starts)
            for choice, names in answer.under.items():
                before, numbers = common.get((row.scheme, choice), (names, ()))
                both = tuple(name for name in before if name in names)
                common[row.scheme, choice] = both, (*numbers, row.probe)
        return common

    @property
    def mistakes(self) -> dict[str, tuple[str, ...]]:
        """The known mistakes that explain all probes of a scheme, right ones too; only for schemes that are refused."""
        explanations = {}
        for scheme, rows in self.groupby("scheme"):
            if rows["follows"].all() and not any(key[0] == scheme for key in self._contradicted()):
                continue
            names = _known_mistakes(scheme)
            for row in rows.itertuples():
                names = names & _mistakes_giving(probe(row.probe), row.starts)
            if names:
                explanations[scheme] = tuple(sorted(names))
        return explanations

    def __str__(self) -> str:
        probes = [f"{'' if follows else 'not '}{sentence}" for follows, sentence in self._probes()]
        return "\n".join([*probes, *self._explained(), self._total()])

    def _repr_html_(self) -> str:
        probes = self._probes()
        wrong = [sentence for follows, sentence in probes if not follows]
        parts = [show.line("", strong=self._total()), *map(show.line, self._explained())]
        parts += [show.note(f"not {sentence}") for sentence in wrong[:MOST_SHOWN]]
        every = [show.line(f"{'' if follows else 'not '}{sentence}") for follows, sentence in probes]
        return show.page(*parts, show.folded(f"each of the {len(probes)} probes", *every))

    def _probes(self):
        """Return for each probe whether it follows its scheme, and a sentence about it."""
        sentences = []
        for row in self.itertuples():
            about = f"probe {row.probe} ({row.title})"
            if row.follows:
                sentences.append((True, f"{row.scheme}, {about}: {row.convention}"))
            else:
                fault_words = f"as with: {row.convention}. {row.words}" if row.convention else row.words
                sentences.append((False, f"{row.scheme}: {about}: {fault_words}"))
        return sentences

    def _explained(self):
        """Return what all probes of a scheme say together, in a sentence each."""
        lines = [f"not {contradiction}" for contradiction in self.contradictions]
        lines += [
            f"not {scheme}: one mistake explains all of these probes: the scheduler {', or it '.join(names)}"
            for scheme, names in self.mistakes.items()
            if len(names) <= MOST_NAMED
        ]
        lines += [f"{scheme}, {choice}: {' or '.join(names)}" for (scheme, choice), names in self.conventions.items()]
        for scheme, numbers in self.groupby("scheme")["probe"]:
            every = sum(probe.scheme == scheme for probe in probes())
            if len(numbers) < every:
                lines.append(f"{scheme}: {len(numbers)} of {every} probes are here; the others may tell more")
        return lines

    def _total(self):
        count, total = int((~self["follows"]).sum()), len(self)
        of_them, follow = ("the probe", "follows its") if total == 1 else (f"all of {total} probes", "follow their")
        if count:
            by_scheme = self.groupby("scheme", sort=False)["follows"]
            right = [f"{scheme} {int(follows.sum())} of {len(follows)}" for scheme, follows in by_scheme]
            those = f"; those that do: {', '.join(right)}" * (len(right) > 1)
            return f"not following their scheme: {count} of {total} probe{'s' * (total > 1)}{those}"
        if self.contradictions:
            return f"{of_them} {follow} scheme, but not under one convention"
        return f"{of_them} {follow} scheme"


@cache
def _known_mistakes(scheme):
    known = [mistakes()[probe.number] for probe in probes() if probe.scheme == scheme]
    return {name for starts in known for names in starts.values() for name in names}


def _mistakes_giving(probe, starts):
    """Return the mistakes that give this schedule of a probe."""
    wrong = mistakes()[probe.number]
    if starts == probe.answers[0].starts:
        return _known_mistakes(probe.scheme) - {name for names in wrong.values() for name in names}
    return set(wrong.get(starts, ()))

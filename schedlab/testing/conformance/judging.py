"""What a simulator made of the cases: which conventions it follows, and where it follows none."""

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
from .suite import KINDS, MOST_NAMED, NONE, Case, case, cases, folder, mistakes

MOST_SHOWN = 3  # cases of another scheme that are not folded away
SUFFIXES = (".swf", ".csv", ".txt", ".data", ".out")  # of files of cases, in upper or lower case, also with .gz


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
        - A folder with one file per case, named like its log (``06-candidates-against-the-head.csv``). Formats, also
          compressed (.gz): SWF with waits; the jobs file of Batsim or evalys, or any CSV with columns for the job and
          its start; a CSV of these two columns without a header; AccaSim's dispatching plan. The logs themselves may
          be in the folder, too.
        - A schedlab scheme, which is run on the cases of its kind.
        - The starts themselves, by name of the case and job number.
    scheme : {"FCFS", "SJF", "EASY", "conservative"}, optional
        Judge only the cases that test this scheme. Default: the cases that have a file; for a scheme, those of its
        kind.
    trace : Trace, optional
        Judge a whole log instead of the cases: the log that was simulated. `given` is then the simulator's output, as
        one file in any of these formats, or of CQSim, also compressed; a table with the same columns, or with an index
        of job numbers; a Series of starts by job number; or a `Schedule`, whose trace is the default.
    **conventions
        overrun and events, as in `simulate`; only for a scheme.

    Returns
    -------
    Verdicts
        One row per case.
    LogVerdict
        For a whole log: the laws that the output breaks, the settings that give all its starts, and the first
        difference from the nearest one.

    Raises
    ------
    ValueError
        Names file and line of what cannot be read. Also if no case has a file, for an unknown case, or for conventions
        without a scheme.
    TypeError
        If `given` is something else.

    Examples
    --------
    >>> import schedlab as sl
    >>> bool(sl.conformance.judge(sl.EASY(), events="each")["follows"].all())
    True
    >>> starts = {"candidates-against-the-head": {1: 0, 2: 22, 3: 2}}  # of each job, from another simulator
    >>> sl.conformance.judge(starts)[["case", "follows", "convention"]].values.tolist()
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
    known = cases() if scheme is None else [case for case in cases() if case.scheme == _kind(scheme)]
    if isinstance(given, Scheme):
        starts = {case.name: _simulated(case, given, conventions) for case in known}
    elif isinstance(given, Mapping):
        for name in given:
            check_known("case", name, [case.name for case in cases()])
        if not given:
            raise ValueError("no case is given, expected the starts of one or more, by the name of the case")
        starts = {case.name: _whole_starts(case, given[case.name]) for case in known if case.name in given}
        if not starts:
            names = ", ".join(case.name for case in known)
            raise ValueError(f"none of the cases given tests {scheme}; these do: {names}")
    else:
        files = _files(Path(given), known)
        starts = {case.name: read_starts(files[case.name], case) for case in known if case.name in files}
        if not starts:
            example = f"{known[0].path.stem}.csv"
            raise ValueError(f"{plain(str(given))}: no file of any case, expected such as {example}")
    rows = [_verdict(case, starts[case.name]) for case in known if case.name in starts]
    return Verdicts(rows, columns=["case", "scheme", "title", "starts", "follows", "convention", "words"])


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
                "the path of a folder with results, a scheme such as sl.EASY(), or the starts by case and job number; "
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


def _whole_starts(case, by_job):
    """Return the starts of a case by job number, after a check: jobs of the case, and whole seconds."""
    if not hasattr(by_job, "items"):
        raise ValueError(f"{case.name}: the starts are {by_job!r}, expected the start of each job by its number")
    jobs, starts = case.records.index.tolist(), {}
    for job, start in by_job.items():
        if job not in jobs:
            raise ValueError(f"{case.name}: there is no job {job!r}, expected numbers of {', '.join(map(str, jobs))}")
        if job in starts:
            raise ValueError(f"{case.name}: job {job} is given a second time, expected one start of each job")
        real = isinstance(start, Real) and not isinstance(start, bool)
        if not (real and abs(start) < LIMIT and abs(start - round(start)) < 0.01):
            expected = "a whole number of seconds below 2**53"
            raise ValueError(f"{case.name}: job {job} starts at {start!r}, expected {expected}")
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
    raise ValueError(f'{scheme}: say which cases it should be judged by, with scheme="EASY"')


def _simulated(case, scheme, conventions):
    schedule = simulate(case.trace, scheme, **conventions)
    return dict(zip(schedule.trace.table.index.tolist(), schedule.start.tolist(), strict=True))


def _files(folder, known):
    """Return the files of cases in a folder, by the name of the case, without copies of the logs."""
    if not folder.is_dir():
        problem = "a file, expected a folder" if folder.exists() else "no such folder, expected one"
        whole = "; a file of a whole log needs trace=" if folder.exists() else ""
        raise ValueError(f"{plain(str(folder))}: {problem} with a file for each case{whole}")
    of_names = {f"{case.path.stem}{suffix}{gz}": case for case in known for suffix in SUFFIXES for gz in ("", ".gz")}
    files = {}
    for path in sorted(folder.iterdir()):
        case = of_names.get(path.name.casefold())
        if case is None or not path.is_file() or path.read_bytes() == case.path.read_bytes():
            continue
        if case.name in files:
            both = f"{files[case.name].name} and {path.name}"
            raise ValueError(f"{plain(f'{folder}: {both}')} are both of case {case.number}, expected one file of each")
        files[case.name] = path
    return files


def _verdict(case, starts):
    starts = tuple(int(starts.get(job, NONE)) for job in case.records.index)
    answer = _answer(case, starts)
    about = (case.number, case.scheme, case.title, starts)
    if answer is not None:
        return (*about, answer.follows, answer.convention, answer.words)
    return (*about, False, "", f"{fault(case, starts)}{_as_does(mistakes()[case.number].get(starts, ()))}")


def _answer(case, starts):
    return next((answer for answer in case.answers if answer.starts == starts), None)


def _as_does(names):
    """Name the mistakes that give the same schedule, unless there are too many to tell anything."""
    return f"; so does a scheduler that {' or '.join(names)}" if 0 < len(names) <= MOST_NAMED else ""


def fault(case: Case, starts: tuple[int, ...]) -> str:
    """Say in a sentence what is wrong with a schedule that follows no known convention.

    Parameters
    ----------
    case : Case
        The simulated log.
    starts : tuple of int
        Of jobs 1, 2, ...

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.conformance.fault(sl.conformance.case(1), starts=(0, 20, 30, 40))
    'job 2 is first in the queue and fits at 10, but starts at 20'
    """
    records = case.records
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
        if held > case.procs:
            return f"at {now} jobs hold {held} processors of {case.procs}"
    order = sorted(jobs, key=lambda i: (submit[i], list(records.index)[i]))
    for i in sorted(jobs, key=lambda i: starts[i]):
        now = starts[i]
        waiting = [j for j in order if submit[j] <= now < starts[j]]
        ahead = [j for j in waiting if order.index(j) < order.index(i)]
        if not ahead:
            continue
        head = ahead[0]
        if case.scheme == "conservative":
            continue
        if case.scheme in ("FCFS", "SJF"):
            return f"job {i + 1} starts at {now}, ahead of job {head + 1}, which waits since {submit[head]}"
        others = [j for j in jobs if j != i and starts[j] <= now < starts[j] + run[j]]
        shadow, left = _shadow(head, now, others, starts, estimate, procs, case.procs)
        if now + estimate[i] > shadow and procs[i] > left:
            delayed = f", and waits until {starts[head]}" if starts[head] > shadow else ""
            return (
                f"job {i + 1} starts at {now} and may run until {now + estimate[i]}, though job {head + 1}, the head "
                f"of the queue, could start at {shadow}{delayed}"
            )
    for i in order if case.scheme != "conservative" else ():
        free = [
            now
            for now in sorted({submit[i], *(starts[j] + run[j] for j in jobs)})
            if submit[i] <= now < starts[i]
            and not any(submit[j] <= now < starts[j] for j in order[: order.index(i)])
            and case.procs - sum(procs[j] for j in jobs if starts[j] <= now < starts[j] + run[j]) >= procs[i]
        ]
        if free:
            return f"job {i + 1} is first in the queue and fits at {free[0]}, but starts at {starts[i]}"
    return _first_difference(case, starts)


def _first_difference(case, starts):
    """Say where a schedule leaves the one that it follows longest, of those that are right."""
    differences = []
    for answer in case.answers:
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

    Columns: case, scheme, title, starts, follows (whether the starts follow any convention of the case's scheme),
    convention (empty if it is unknown), and words.

    Examples
    --------
    >>> import schedlab as sl
    >>> verdicts = sl.conformance.judge(sl.FCFS())
    >>> verdicts.passed, verdicts[["case", "convention"]].values.tolist()[:2]
    (True, [[10, 'in the order of the log'], [11, 'nothing passes the head']])
    """

    @property
    def _constructor(self):
        return pd.DataFrame

    @property
    def passed(self) -> bool:
        """Whether every case follows its scheme, and one convention explains all cases of a scheme."""
        return bool(self["follows"].all()) and not self.contradictions

    @property
    def conventions(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The conventions that explain all cases, by scheme and choice ("EASY", "events"); not of refused schemes."""
        refused = {*self.loc[~self["follows"], "scheme"], *(scheme for scheme, _ in self._contradicted())}
        return {key: names for key, (names, _) in self._common().items() if key[0] not in refused}

    @property
    def contradictions(self) -> tuple[str, ...]:
        """Where no single convention explains all cases of a scheme, in a sentence each."""
        return tuple(
            f"{scheme}: cases {', '.join(map(str, numbers))} follow no single convention about {choice}"
            for (scheme, choice), numbers in self._contradicted().items()
        )

    def _contradicted(self):
        return {key: numbers for key, (names, numbers) in self._common().items() if not names}

    def _common(self):
        """Return the conventions that all answers have in common and the cases that say so, by scheme and choice."""
        common = {}
        for row in self[self["follows"]].itertuples():
            answer = _answer(case(row.case), row.starts)
            for choice, names in answer.under.items():
                before, numbers = common.get((row.scheme, choice), (names, ()))
                both = tuple(name for name in before if name in names)
                common[row.scheme, choice] = both, (*numbers, row.case)
        return common

    @property
    def mistakes(self) -> dict[str, tuple[str, ...]]:
        """The known mistakes that explain all cases of a scheme, right ones too; only for schemes that are refused."""
        explanations = {}
        for scheme, rows in self.groupby("scheme"):
            if rows["follows"].all() and not any(key[0] == scheme for key in self._contradicted()):
                continue
            names = _known_mistakes(scheme)
            for row in rows.itertuples():
                names = names & _mistakes_giving(case(row.case), row.starts)
            if names:
                explanations[scheme] = tuple(sorted(names))
        return explanations

    def __str__(self) -> str:
        cases = [f"{'' if follows else 'not '}{sentence}" for follows, sentence in self._cases()]
        return "\n".join([*cases, *self._explained(), self._total()])

    def _repr_html_(self) -> str:
        cases = self._cases()
        wrong = [sentence for follows, sentence in cases if not follows]
        parts = [show.line("", strong=self._total()), *map(show.line, self._explained())]
        parts += [show.note(f"not {sentence}") for sentence in wrong[:MOST_SHOWN]]
        every = [show.line(f"{'' if follows else 'not '}{sentence}") for follows, sentence in cases]
        return show.page(*parts, show.folded(f"each of the {len(cases)} cases", *every))

    def _cases(self):
        """Return for each case whether it follows its scheme, and a sentence about it."""
        sentences = []
        for row in self.itertuples():
            about = f"case {row.case} ({row.title})"
            if row.follows:
                sentences.append((True, f"{row.scheme}, {about}: {row.convention}"))
            else:
                fault_words = f"as with: {row.convention}. {row.words}" if row.convention else row.words
                sentences.append((False, f"{row.scheme}: {about}: {fault_words}"))
        return sentences

    def _explained(self):
        """Return what all cases of a scheme say together, in a sentence each."""
        lines = [f"not {contradiction}" for contradiction in self.contradictions]
        lines += [
            f"not {scheme}: one mistake explains all of these cases: the scheduler {', or it '.join(names)}"
            for scheme, names in self.mistakes.items()
            if len(names) <= MOST_NAMED
        ]
        lines += [f"{scheme}, {choice}: {' or '.join(names)}" for (scheme, choice), names in self.conventions.items()]
        for scheme, numbers in self.groupby("scheme")["case"]:
            every = sum(case.scheme == scheme for case in cases())
            if len(numbers) < every:
                lines.append(f"{scheme}: {len(numbers)} of {every} cases are here; the others may tell more")
        return lines

    def _total(self):
        count, total = int((~self["follows"]).sum()), len(self)
        of_them, follow = ("the case", "follows its") if total == 1 else (f"all of {total} cases", "follow their")
        if count:
            return f"not following their scheme: {count} of {total} case{'s' * (total > 1)}"
        if self.contradictions:
            return f"{of_them} {follow} scheme, but not under one convention"
        return f"{of_them} {follow} scheme"


@cache
def _known_mistakes(scheme):
    return {
        name
        for case in cases()
        if case.scheme == scheme
        for names in mistakes()[case.number].values()
        for name in names
    }


def _mistakes_giving(case, starts):
    """Return the mistakes that give this schedule of a case."""
    wrong = mistakes()[case.number]
    if starts == case.answers[0].starts:
        return _known_mistakes(case.scheme) - {name for names in wrong.values() for name in names}
    return set(wrong.get(starts, ()))


def others() -> pd.DataFrame:
    """Return the results of other simulators on the logs.

    Returns
    -------
    DataFrame
        One row per simulator and case: simulator, version, its scheme, case, title, convention (or what is wrong, if no
        convention is followed), follows (whether it follows the scheme that the case tests).

    Examples
    --------
    >>> import schedlab as sl
    >>> table = sl.conformance.others()
    >>> table.loc[table["case"] == 17, ["simulator", "follows"]].values.tolist()
    [['predictsim', True], ['CQSim', False]]
    """
    rows = []
    for run in pd.read_csv(folder() / "others.csv", dtype=str).itertuples():
        about = case(int(run.case))
        verdict = _verdict(about, dict(enumerate(map(int, run.starts.split()), start=1)))
        convention = verdict[5] or f"none: {fault(about, verdict[3])}"
        rows.append((run.simulator, run.version, run.scheme, *verdict[:1], *verdict[2:3], convention, verdict[4]))
    return pd.DataFrame(rows, columns=["simulator", "version", "scheme", "case", "title", "convention", "follows"])


def picture():
    """Draw which of the other simulators follow the scheme that each case tests: a mark for each row of `others`.

    The tooltip names the convention that the simulator follows, or what is wrong.

    Returns
    -------
    altair chart

    Examples
    --------
    >>> import schedlab as sl
    >>> chart = sl.conformance.picture()
    """
    from schedlab.charts import marks  # here, since Altair is slow to load

    meanings = same, other, wrong = "the scheme, as in schedlab", "the scheme, by another convention", "not the scheme"
    rows = others()
    tested = [case(number) for number in rows["case"]]
    first = rows["convention"] == [test.answers[0].convention for test in tested]
    rows["mark"] = np.where(rows["follows"], np.where(first, same, other), wrong)
    rows["tested"] = [f"{test.scheme}, case {test.number}: {test.title}" for test in tested]
    rows["kind"] = [KINDS.index(test.scheme) for test in tested]
    return marks(
        rows.sort_values(["kind", "case"], kind="stable"),
        "simulator",
        "tested",
        "mark",
        meanings,
        details=["version", "scheme", "convention"],
        step=96,
        title=f"{rows['follows'].sum()} of {len(rows)} schedules of other simulators are of the scheme that they name",
    )

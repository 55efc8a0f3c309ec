"""Read the machine from Slurm's own configuration: slurm.conf, and the limits of its QOS.

What Slurm configures and a machine of pools does not have is listed, so that nobody takes it for simulated.

References
----------
The manual pages slurm.conf(5) and sacctmgr(1), https://slurm.schedmd.com/slurm.conf.html
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from schedlab._runtime.files import opened
from schedlab._runtime.text import plain, spelt

from .pools import Limit, Pool, Pools

LINES = ("nodename", "partitionname", "nodeset", "downnodes")  # kinds of lines, by their first key
MOST_NODES = 10**6  # in one list; more are a slip of the pen
TAKES_NO_JOBS = {"DOWN", "DRAIN", "DRAINED", "FAIL", "FAILING", "FUTURE", "INACTIVE"}
NAMES = f"names and ranges such as cn[001-064,070], at most {MOST_NODES:,} nodes"
CORES = ("boards", "sockets", "corespersocket", "threadspercore")
ALIASES = {"procs": "cpus", "socketsperboard": "sockets", "features": "feature", "shared": "oversubscribe"}

_COMMENT = re.compile(r"(?<!\\)#.*")
_INCLUDE = re.compile(r"\s*include\s+(\S.*)", re.IGNORECASE)
_PAIR = re.compile(r'([\w.]+)\s*[-+]?=\s*(?:"([^"]*)"|([^\s"]*))(?!\S)')
_COMMA = re.compile(r"[,\s]+(?![^\[]*\])")  # not within brackets
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_GRES = re.compile(r"([^:]+)(?::([^:]+))?(?::no_consume)?:([0-9]+)([kmgtp]?)", re.IGNORECASE)

_ORDER = "the order of the queue is part of the scheme, as in sl.multifactor()"
_NO_PREEMPTION = "jobs are not preempted"
_PLACES = "in a pool, which nodes, sockets or cores a job gets is not simulated"
_ADMITTED = "the log has the jobs that were let in, with their limits and demands"
_UNKNOWN = "not known here"
# Why a key of a kind of line is not mapped, by the first pattern that matches; None: it is, or has nothing to do with
# schedules. Lines of other kinds are settings (""), of which only those listed here have to do with schedules.
REASONS = {
    "nodename": {
        "node(name|hostname|addr)|bcastaddr|port|reason|comment|extra|cpubind": None,
        "cpus|boards|sockets|coresper.*|threadsper.*|realmemory|gres|state": None,
        "(core|cpu|mem)spec.*|restrictedcorespergpu": "the pools count all cores and all memory of the nodes",
        "weight|feature|tmpdisk|topology.*": _PLACES,
    },
    "partitionname": {
        "partitionname|nodes|state|hidden|disablerootjobs|allocnodes|power.*|(resume|suspend)timeout": None,
        "priority.*": _ORDER,
        "preemptmode|gracetime": _NO_PREEMPTION,
        "oversubscribe|exclusive.*|maxcpusper.*|lln|cpubind|selecttype.*|topology": _PLACES,
        "default|(max|min)nodes|(max|default)time|overtimelimit|(def|max)(mem|cpu)per.*": _ADMITTED,
        "(allow|deny).*|reqresv|rootonly|alternate": _ADMITTED,
        "qos": "limits of the QOS of a partition are not applied to its jobs",
        "tresbillingweights": "usage is counted in processors",
    },
    "": {
        "scheduler.*": "the scheme is an argument of simulate()",
        "priority.*|fairshare.*": _ORDER,
        "preempt.*": _NO_PREEMPTION,
        "select.*|topology.*": _PLACES,
        "(def|max)(mem|cpu)per.*|enforcepartlimits|max(jobcount|arraysize)|jobsubmitplugins": _ADMITTED,
        "accountingstorageenforce": "limits are those of qos=; those of associations are not read",
        "licenses|burstbuffer.*": "the machine counts processors, GPUs and memory",
        "completewait|suspend(time|program)": "a job starts as soon as its resources are free",
        "overtimelimit|resvoverrun": "how far jobs run over is overrun= of simulate()",
        "jobrequeue|requeueexit.*|dependencyparameters|federationparameters": "the jobs are those of the log",
    },
    "qos": {
        "name|id|description|descr": None,
        "priority": _ORDER,
        "preempt.*|gracetime": _NO_PREEMPTION,
        "flags|usage.*|limitfactor": "not simulated",
        "(grp|max)submit.*|max(tres|tresmins|wall.*|cpus|nodes)((pj|perjob|pernode)?)|min.*": _ADMITTED,
        "(grp|max).*": "limits are on the jobs, processors and GPUs that run at one time",
    },
}
UNSET = {"", "0", "-1", "00:00:00", "cluster", "1.000000", "0.000000"}  # in sacctmgr's output
LIMITED = {"grp": "qos", "maxpu": "user", "maxpa": "account"}
KINDS = {"cpu": "procs", "gres/gpu": "gpus", "jobs": "running"}


class SlurmConfError(ValueError):
    """A configuration cannot be read; the message has the file, the line, the key, the value and what was expected."""


class _Entry(NamedTuple):
    """A value, and where it is: in which line of which file, of what, such as ``PartitionName=debug``."""

    file: str
    line: int
    of: str
    key: str
    value: str

    def error(self, expected):
        value = self.value if len(self.value) <= 80 else f"{self.value[:77]}..."
        return SlurmConfError(f"{self.file}:{self.line}: {self.key} is {spelt(value)}, expected {expected}")

    def number(self, least=1, text=None):
        text = self.value if text is None else text
        if not re.fullmatch("[0-9]{1,15}", text) or int(text) < least:
            raise self.error(f"whole numbers of at least {least}")
        return int(text)


class _Node(NamedTuple):
    record: dict[str, _Entry]
    procs: int
    gpus: int
    gpu_types: frozenset[str]
    memory: int  # KB, 0 if it is not configured


@dataclass(frozen=True, eq=False, repr=False)
class SlurmConf:
    """The machine that a configuration of Slurm means, and what of it no machine here has.

    Attributes
    ----------
    machine : Pools
        One pool for partitions that share nodes, with the limits of QOS.
    unmapped : DataFrame
        What was not mapped, or not exactly: file, line, of (such as ``PartitionName=debug``), key, value and reason.
    facts : str
        What was read.
    """

    machine: Pools
    unmapped: pd.DataFrame
    facts: str

    def __repr__(self) -> str:
        lines = [f"<SlurmConf {self.facts}"]
        for name, pool in self.machine.pools:
            lines.append(f"pool {name}: {pool}; partitions {', '.join(pool.partitions)}")
        lines += [f"limit: {limit}" for limit in self.machine.limits]
        lines.append(f"not mapped: {len(self.unmapped):,} values" + ", in .unmapped" * (len(self.unmapped) > 0))
        for (key, reason), rows in self.unmapped.groupby(["key", "reason"], sort=False):
            first = rows.iloc[0]
            more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
            lines.append(f"   {key} ({first['file']}:{first['line']}{more}): {reason}")
        return "\n   ".join(map(plain, lines)) + ">"


def read_slurm_conf(path: str | PathLike, qos: str | PathLike | None = None) -> SlurmConf:
    """Read the machine from Slurm's configuration, and the limits of its QOS.

    Parameters
    ----------
    path : path
        The file slurm.conf. Files that it includes are looked for beside it, unless their paths are absolute.
    qos : path, optional
        A file with what ``sacctmgr show qos -P`` prints. Default: no limits.

    Returns
    -------
    SlurmConf
        `machine`, for `simulate`, and `unmapped`, the values that would change schedules but are not simulated.

    Raises
    ------
    SlurmConfError
        For a line that cannot be read, an unknown node, no nodes, no partitions, or an included file that is missing.

    Notes
    -----
    Partitions that share nodes are served by one pool, which has all their nodes. If a partition has only some of
    these, its own bound is lost, and `unmapped` says so. Nodes and partitions that are configured as down (or drained,
    failing, future, inactive) are left out. Memory is counted if all nodes of the pool say how much they have and
    SelectTypeParameters, where it is given, makes memory a resource. A QOS's own limits (``GrpTRES`` of CPUs and GPUs,
    ``GrpJobs``) become limits by QOS; those of each user or account become limits by user or account if all QOS have
    the same.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> conf = '''
    ... SchedulerType=sched/backfill
    ... NodeName=DEFAULT Sockets=2 CoresPerSocket=32 RealMemory=262144
    ... NodeName=cn[001-064]
    ... NodeName=gn[1-8] Gres=gpu:a100:4
    ... PartitionName=cpu Nodes=cn[001-064] Default=YES
    ... PartitionName=debug Nodes=cn[001-064] MaxTime=30
    ... PartitionName=gpu Nodes=gn[1-8]
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "slurm.conf")
    ...     characters = path.write_text(conf)
    ...     cluster = sl.read_slurm_conf(path)
    >>> cluster
    <SlurmConf slurm.conf: 72 nodes, 3 partitions
       pool cpu: 4,096 processors, 16 TB of memory; partitions cpu, debug
       pool gpu: 512 processors, 32 GPUs, 2 TB of memory; partitions gpu
       not mapped: 3 values, in .unmapped
          SchedulerType (slurm.conf:2): the scheme is an argument of simulate()
          Default (slurm.conf:6): the log has the jobs that were let in, with their limits and demands
          MaxTime (slurm.conf:7): the log has the jobs that were let in, with their limits and demands>
    """
    path = Path(path)
    unmapped = []
    settings = {}
    lines = {kind: [] for kind in LINES}
    defaults = {kind: {} for kind in LINES}
    for record in _records(path, path.parent):
        first = next(iter(record))
        kind = first if first in lines else ""
        unmapped += [(entry, reason) for key, entry in record.items() if (reason := _reason(kind, key))]
        if not kind:
            settings |= record
        elif record[kind].value.upper() == "DEFAULT":
            defaults[kind] |= record
        else:
            lines[kind].append(defaults[kind] | record)
    nodes = _nodes(lines["nodename"], unmapped)
    if not nodes:
        raise SlurmConfError(f"{plain(path.name)}: no nodes, expected lines such as NodeName=cn[001-064] CPUs=64")
    sets = {record["nodeset"].value: _members(record, nodes, {}) for record in lines["nodeset"]}
    down = {name for name, node in nodes.items() if _is_down(node.record, "", unmapped)}
    for record in lines["downnodes"]:
        if _is_down(record, "DOWN", unmapped):
            down |= _chosen(record["downnodes"], nodes, sets)
    records = {}
    served = {}
    for record in lines["partitionname"]:
        name = record["partitionname"].value
        records[name] = records.get(name, {}) | record
        served[name] = served.get(name, set()) | _members(record, nodes, sets) - down
    for name, record in records.items():
        if not served[name]:
            unmapped.append((record["partitionname"], "no node takes its jobs: left out"))
        if _is_down(record, "", unmapped) or not served[name]:
            del served[name]
    if not served:
        what = "no partition of nodes that are up" if records else "no partitions"
        raise SlurmConfError(f"{plain(path.name)}: {what}, expected lines such as PartitionName=cpu Nodes=ALL")
    idle = Counter(nodes[name].record["nodename"] for name in set(nodes).difference(down, *served.values()))
    unmapped += [(entry, f"nodes in no partition that is up, left out: {idle[entry]:,}") for entry in sorted(idle)]
    select = settings.get("selecttypeparameters")
    has_memory = select is None or "memory" in select.value.lower()
    if not has_memory:
        unmapped.append((select, "memory is no resource, and no pool counts it"))
    pools = dict(_pool(names, served, nodes, records, has_memory, unmapped) for names in _groups(served))
    limits = []
    facts = f"{path.name}: {len(nodes):,} nodes, {len(records):,} partitions"
    if qos is not None:
        enforced = {"limits", "safe", "all"}.intersection(_texts(settings, "accountingstorageenforce"))
        has_gpus = any("gpus" in dict(pool.amounts) for pool in pools.values())
        rows = _qos_rows(Path(qos))
        limits = _limits(rows, enforced, has_gpus, unmapped)
        facts += f"; {Path(qos).name}: {len(rows):,} QOS"
    table = [(*entry, reason) for entry, reason in dict.fromkeys(unmapped)]
    return SlurmConf(Pools(pools, limits=limits), pd.DataFrame(table, columns=[*_Entry._fields, "reason"]), facts)


def _reason(kind, key):
    patterns = REASONS.get(kind, {})
    unknown = _UNKNOWN if kind and patterns else None
    return next((patterns[text] for text in patterns if re.fullmatch(text, key)), unknown)


def _records(path, folder, around=()) -> Iterator[dict[str, _Entry]]:
    """Yield the lines of a file, and of those that it includes, as entries by key in small letters."""
    opened(path)
    text = ""
    first = 1
    for number, line in enumerate([*path.read_text("utf-8-sig", errors="replace").split("\n"), ""], 1):
        first = first if text else number
        text += _COMMENT.sub("", line).rstrip()
        if text.endswith("\\"):
            text = text[:-1]
            continue
        entry = _Entry(plain(path.name), first, "", "line", text.strip())
        if include := _INCLUDE.fullmatch(text):
            file = (folder / include[1]).resolve()
            entry = entry._replace(key="Include", value=include[1])
            if file in (path.resolve(), *around) or not file.is_file():
                raise entry.error(f"another file in folder {plain(str(folder))}, or with its whole path")
            yield from _records(file, folder, (path.resolve(), *around))
        elif text.strip():
            if _PAIR.sub("", text).strip():
                raise entry.error("Key=Value, with quotes around values that have blanks")
            pairs = [(pair[1], (pair[2] or pair[3] or "").replace("\\#", "#")) for pair in _PAIR.finditer(text)]
            of = "=".join(pairs[0]) if pairs[0][0].lower() in LINES else ""
            record = {key.lower(): entry._replace(of=of, key=key, value=value) for key, value in pairs}
            yield {ALIASES.get(key, key): value for key, value in record.items()}
        text = ""


def _nodes(records, unmapped):
    """Return the nodes by name."""
    nodes = {}
    for record in records:
        cores = ("cpus",) if "cpus" in record else CORES
        procs = prod(record[key].number() for key in cores if key in record)
        memory = record["realmemory"].number(0) if "realmemory" in record else 1
        node = _Node(record, procs, *_gpus(record.get("gres"), unmapped), memory * 1024 if memory > 1 else 0)
        for name in _expanded(record["nodename"]):
            if name in nodes:
                line = nodes[name].record["nodename"].line
                raise record["nodename"].error(f"each node in one line; {name!r} is in line {line} already")
            nodes[name] = node
    return nodes


def _gpus(gres, unmapped):
    """Return the number of GPUs in a list of generic resources, and their types."""
    number = 0
    types = set()
    for text in filter(None, gres.value.split(",") if gres else ()):
        match = _GRES.fullmatch(text if text.count(":") else f"{text}:1")
        if not match:
            raise gres.error("generic resources such as gpu:4 or gpu:a100:4")
        if match[1].lower() == "gpu":
            number += int(match[3]) * 1024 ** " kmgtp".index(match[4].lower() or " ")
            types.add(match[2] or "")
        else:
            unmapped.append((gres, f"{match[1]} is not counted: of generic resources, only GPUs are"))
    return number, frozenset(types)


def _expanded(entry):
    """Return the names in a list of nodes with ranges."""
    names = []
    for text in filter(None, _COMMA.split(entry.value)):
        pieces = re.split(r"\[([^][]*)\]", text)  # text and ranges by turns
        choices = [_numbers(piece, entry) if i % 2 else [piece] for i, piece in enumerate(pieces)]
        if len(names) + prod(map(len, choices)) > MOST_NODES or {"[", "]"} & {*"".join(pieces[::2])}:
            raise entry.error(NAMES)
        names += map("".join, product(*choices))
    return names


def _numbers(text, entry):
    numbers = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        span = range(int(match[1]), int(match[2] or match[1]) + 1) if match else ()
        if not 0 < len(span) <= MOST_NODES:
            raise entry.error(NAMES)
        numbers += [f"{number:0{len(match[1])}}" for number in span]
    return numbers


def _chosen(entry, nodes, sets):
    """Return the nodes that a list of nodes, of sets of nodes, or ALL means."""
    chosen = set()
    for name in _expanded(entry):
        if name not in sets and name not in nodes and name.upper() != "ALL":
            raise entry.error(f"nodes that have a line NodeName=...; there is none for {name!r}")
        chosen |= sets[name] if name in sets else {name} if name in nodes else set(nodes)
    return chosen


def _members(record, nodes, sets):
    """Return the nodes of a partition, or of a set of nodes, which may be chosen by a feature."""
    chosen = _chosen(record["nodes"], nodes, sets) if "nodes" in record else set()
    if "nodeset" in record:
        features = _texts(record, "feature")
        chosen |= {name for name, node in nodes.items() if features & _texts(node.record, "feature")}
    return chosen


def _texts(record, key):
    """Return what a list has, in small letters."""
    return {*record[key].value.lower().split(",")} if key in record else set()


def _is_down(record, otherwise, unmapped):
    """Tell whether nodes or a partition take no jobs."""
    state = record.get("state")
    is_down = (state.value if state else otherwise).upper() in TAKES_NO_JOBS
    if is_down:
        unmapped.append((state or next(iter(record.values())), "takes no jobs: left out"))
    return is_down


def _groups(served):
    """Return the names of the partitions that share nodes, directly or by way of others."""
    groups = []
    for name in served:
        shares = [group for group in groups if any(not served[name].isdisjoint(served[other]) for other in group)]
        groups = [group for group in groups if group not in shares]
        groups.append([other for other in served if other == name or any(other in group for group in shares)])
    return sorted(groups, key=lambda group: [*served].index(group[0]))


def _pool(names, served, nodes, records, has_memory, unmapped):
    """Return the name of the largest partition, and the pool that serves all of these."""
    members = set().union(*(served[name] for name in names))
    largest = max(names, key=lambda name: len(served[name]))
    pooled = [nodes[name] for name in sorted(members)]
    procs = sum(node.procs for node in pooled)
    for name in names:
        if served[name] != members:
            part = sum(nodes[node].procs for node in served[name])
            reason = f"{part:,} of the {procs:,} procs of pool {largest}, which serves partitions that share nodes: "
            unmapped.append((records[name]["nodes"], f"{reason}this bound is lost"))
    types = sorted(set().union(*(node.gpu_types for node in pooled)))
    if len(types) > 1:
        entry = next(node.record["gres"] for node in pooled if node.gpu_types)
        listed = ", ".join(text or "of no type" for text in types)
        unmapped.append((entry, f"GPUs of pool {largest} count alike: {listed}"))
    silent = [node.record["nodename"] for node in pooled if not node.memory]
    if silent and len(silent) < len(pooled) and has_memory:
        unmapped.append((silent[0], f"no RealMemory: pool {largest} counts no memory"))
    gpus = sum(node.gpus for node in pooled) or None
    memory = None if silent or not has_memory else sum(node.memory for node in pooled)
    return largest, Pool(procs, gpus=gpus, memory=memory, partitions=names)


def _qos_rows(path):
    """Return the rows of what ``sacctmgr show qos -P`` prints, as entries by column in small letters."""
    opened(path)
    texts = path.read_text("utf-8-sig", errors="replace").split("\n")
    lines = [_Entry(plain(path.name), number, "", "line", text.strip()) for number, text in enumerate(texts, 1)]
    lines = [line for line in lines if line.value] or lines
    columns = lines[0].value.split("|")
    keys = [key.lower().replace("peruser", "pu").replace("peraccount", "pa") for key in columns]
    if "name" not in keys:
        raise lines[0].error("columns such as Name|GrpTRES, as `sacctmgr show qos -P` prints them")
    rows = []
    for line in lines[1:]:
        values = line.value.split("|")
        if len(values) != len(keys):
            raise line.error(f"{len(keys)} values with | between them")
        line = line._replace(of=f"QOS={values[keys.index('name')]}")
        entries = [line._replace(key=column, value=value) for column, value in zip(columns, values, strict=True)]
        rows.append(dict(zip(keys, entries, strict=True)))
    return rows


def _limits(rows, enforced, has_gpus, unmapped):
    """Return the limits that the rows of QOS mean."""
    amounts = {}  # by column and kind, then by QOS
    for row in rows:
        for key, entry in row.items():
            match = re.fullmatch("(grp|max)(tres|jobs)(pu|pa)?", key)
            column = LIMITED.get(f"{match[1]}{match[3] or ''}") if match else None
            if column is None:
                reason = None if entry.value in UNSET else _reason("qos", key)
                unmapped += [(entry, reason)] if reason else []
                continue
            texts = entry.value if match[2] == "tres" else entry.value and f"jobs={entry.value}"
            for name, _, text in (text.partition("=") for text in texts.split(",") if text):
                kind = KINDS.get(name.lower())
                if not kind or (kind == "gpus" and not has_gpus):
                    unmapped.append((entry, f"no limit on {name}: only on jobs, and on CPUs and GPUs that pools have"))
                elif text != "-1":
                    amounts.setdefault((column, kind), {})[row["name"].value] = (entry.number(0, text), entry)
    limits = {}
    for (column, kind), of in amounts.items():
        alike = len(of) == len(rows) and len({number for number, _ in of.values()}) == 1
        for number, entry in of.values():
            if number == 0:
                unmapped.append((entry, "lets no job run, which trace.where() can leave out"))
            elif column != "qos" and not alike:
                unmapped.append((entry, f"limits by {column} that differ by QOS are not applied"))
            elif column != "qos" and len(rows) > 1:
                unmapped.append((entry, f"applied to all jobs of each {column} together, not by QOS"))
        most = {name: number for name, (number, _) in of.items() if number}
        if most and (column == "qos" or alike):
            limits.setdefault(column, {})[kind] = most if column == "qos" else max(most.values())
    if limits and not enforced:
        reason = "limits are applied, although AccountingStorageEnforce does not enforce limits"
        unmapped.append((rows[0]["name"], reason))
    return [Limit(column, **kinds) for column, kinds in limits.items()]

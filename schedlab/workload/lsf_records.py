"""The JOB_FINISH records of LSF, as texts by name; see `schedlab.workload.accounting.read_lsf`."""

import re
from collections import Counter

from schedlab._runtime.text import spelt

from .fields import clipped

_TOKEN = re.compile(r'("(?:[^"]|"")*")|(\S+)')  # a quote inside a text is doubled
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_USED = " ".join(f"rusage{place}#" for place in range(3, 20))  # page faults, messages, switches, ...
_LISTS = {"[": '"', "{": '#"'}  # what follows a count so many times: a text, or a number and a text


def _fields(text):
    return [(field[:-1], field[-1]) for field in text.split()]


# The fields in their order, each with its form: " is a text, # a number, [ or { a list. Newer versions of LSF have more
# fields: where a record ends, or has another form, the rest is unknown.
_BEGIN = 'kind" version" eventTime# jobId# userId# options# numProcessors# submitTime# beginTime# termTime# startTime#'
_BEGIN = _fields(_BEGIN + ' userName" queue"')
_REST = 'resReq" dependCond" preExecCmd" fromHost" cwd" inFile" outFile" errFile" jobFile" askedHosts[ execHosts['
_REST += f' jStatus# hostFactor# jobName" command" utime# stime# {_USED} mailUser" projectName" exitStatus#'
_REST += ' maxNumProcessors# loginShell" timeEvent" idx# maxRMem# maxRSwap# inFileSpool" commandSpool" rsvId" sla"'
_REST += ' exceptMask# additionalInfo" exitInfo# warningAction" warningTimePeriod# chargedSAAP" licenseProject" app"'
_REST += ' postExecCmd" runtimeEstimation# jobGroupName" requeueEvalues" options2# resizeNotifyCmd" lastResizeTime#'
_REST = _fields(_REST + ' reservation" jobDescription" submitExt{')
# Then a count of hosts, each with four numbers, or five, as logs in public have them. There, the limit is before
# options3; the manual has it behind.
_END = _fields('runLimit# options3# avgMem# effectiveResReq" srcCluster" srcJobId# dstCluster" dstJobId#')
_OF_A_HOST = (4, 5)
KEPT = ("userId", "numProcessors", "beginTime", "termTime", "resReq", "dependCond", "fromHost", "utime", "stime")
KEPT += ("projectName", "exitStatus", "maxNumProcessors", "maxRMem", "sla", "exitInfo", "chargedSAAP", "licenseProject")
KEPT += ("app", "runtimeEstimation", "jobGroupName", "avgMem", "effectiveResReq")
STATES = {"64": "COMPLETED", "32": "FAILED"}
# What ended a job that did not complete, by exitInfo; others have failed.
ENDED_BY = {"1": "PREEMPTED", "5": "TIMEOUT", "6": "DEADLINE", "16": "OUT_OF_MEMORY"}
ENDED_BY |= dict.fromkeys(("8", "9", "14", "15"), "CANCELLED")  # by the owner or an administrator
_GPUS = re.compile(r"rusage\[[^]]*?\bngpus(?:_physical|_shared|_excl_p|_excl_t)?=([0-9]+)(?:\.0*)?(?:/(\w+))?(?![.\w])")
ROLES = {"submit": "submitTime", "start": "startTime", "end": "eventTime", "procs": "procs", "estimate": "runLimit"}
ROLES |= {"user": "userName", "queue": "queue", "job_name": "jobName", "reservation": "rsvId", "status": "state"}


def tokens(line: str) -> list[str]:
    """Return the fields of a record, texts with their quotes; raise ValueError if a text has no end."""
    if line.count('"') % 2:
        raise ValueError(f"found {clipped(line)!r}, expected a record whose texts are all closed by a quote")
    return [match[0] for match in _TOKEN.finditer(line)]


def row(record: list[str]) -> dict[str, str]:
    """Return the columns of a run; raise ValueError if those at the beginning cannot be read."""
    begin, place = _taken(record, 0, _BEGIN)
    if len(begin) < len(_BEGIN):
        name, form = _BEGIN[len(begin)]
        value = clipped(record[place]) if place < len(record) else ""
        expected = "a text in quotes" if form == '"' else "a number"
        raise ValueError(f"field {place + 1} ({name}) is {spelt(value)}, expected {expected}")
    rest, place = _taken(record, place, _REST)
    values = begin | rest
    if values.get("jStatus", "64") not in STATES:  # a list of hosts of another form
        values = begin
    if "submitExt" in values:
        values |= _end(record, place)
    return _columns(values)


def _taken(record, place, fields):
    """Take fields from a place on, as long as they have the expected form; return them, and where the next begins."""
    values = {}
    for name, form in fields:
        forms = form
        if form in _LISTS:
            count = record[place] if place < len(record) else ""
            forms = "#" + _LISTS[form] * int(count) if count.isdigit() and int(count) < len(record) else "#"
        part = record[place : place + len(forms)]
        if len(part) < len(forms) or not all(map(_has_form, part, forms)):
            break
        texts = [*map(unquoted, part)]
        values[name] = texts[1:] if form in _LISTS else texts[0]
        place += len(forms)
    return values, place


def _has_form(token, form):
    return token.startswith('"') if form == '"' else _NUMBER.fullmatch(token) is not None


def _end(record, place):
    """Return the fields behind what each host used, if there is one way only to read them."""
    count = record[place] if place < len(record) else ""
    if not count.isdigit():
        return {}
    readings = []
    for width in _OF_A_HOST if int(count) else _OF_A_HOST[:1]:
        hosts = record[place + 1 :: width + 1][: int(count)]
        values, _ = _taken(record, place + 1 + int(count) * (width + 1), _END)
        if len(values) == len(_END) and not any(map(_NUMBER.fullmatch, hosts)):
            readings.append(values)
    if len(readings) != 1:
        return {}
    values = readings[0]
    return values | {"runLimit": ""} if values["options3"].startswith("-") else values  # no mask: this is the limit


def unquoted(token: str) -> str:
    return token[1:-1].replace('""', '"') if token.startswith('"') else token


def _columns(values):
    hosts = _slots(values.get("execHosts", ()))
    state = STATES.get(values.get("jStatus", ""), "")
    index = values.get("idx", "0")
    columns = {name: values.get(name, "") for name in (*KEPT, *ROLES.values())}
    columns["startTime"] = "" if values["startTime"] == "0" else values["startTime"]  # it never started
    columns["runLimit"] = "" if columns["runLimit"] == "0" else columns["runLimit"]
    columns["procs"] = str(sum(hosts.values())) if hosts else values["numProcessors"]
    columns["gpus"] = _gpus(values["effectiveResReq"], hosts) if "effectiveResReq" in values else ""
    columns["state"] = ENDED_BY.get(values.get("exitInfo", ""), state) if state == "FAILED" else state
    columns["execHosts"] = " ".join(f"{count}*{host}" for host, count in hosts.items())
    identity = values["jobId"] if index == "0" else f"{values['jobId']}[{index}]"
    return columns | {"number": values["jobId"], "job_id": identity}


def _slots(hosts):
    """Count the slots of each host, of texts like 16*n1, or of a host for each slot."""
    counts = Counter()
    for host in hosts:
        count, mark, name = host.partition("*")
        counts[name if mark and count.isdigit() else host] += int(count) if mark and count.isdigit() else 1
    return counts


def _gpus(needs, hosts):
    """Return the GPUs of a run, whose needs count them for each host, or say for what; empty if that is unknown."""
    if "ngpus" not in needs.partition("rusage[")[2]:
        return "0"
    match = _GPUS.search(needs)
    times = {None: len(hosts), "host": len(hosts), "job": 1, "task": sum(hosts.values())}
    known = match is not None and match[2] in times and needs.count("rusage[") == 1 and "||" not in needs
    return str(int(match[1]) * times[match[2]]) if known else ""

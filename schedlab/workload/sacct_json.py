"""What `sacct --json` writes, as the text of `sacct --parsable2`, which `sacct_export` reads.

The fields are those of Slurm's data parsers 0.0.37 to 0.0.42, in which a number is itself or ``{"set": ..., "number":
...}``, and a state is a text or a list of texts.
"""

import json

from schedlab._runtime.text import plain

SEPARATOR = "\x01"  # which stands in no text
COLUMNS = ("JobID", "JobIDRaw", "Cluster", "Partition", "Account", "QOS", "Reservation", "JobName", "User", "Group")
COLUMNS += ("Submit", "Eligible", "Start", "End", "ElapsedRaw", "TimelimitRaw", "AllocCPUS", "ReqCPUS", "NNodes")
COLUMNS += ("AllocTRES", "ReqTRES", "NodeList", "State")


def is_json(text: str) -> bool:
    return text.lstrip()[:1] == "{"


def as_text(text: str, file: str, error: type[Exception]) -> str:
    """Return the jobs of a JSON text as lines of fields; raise the reader's own kind of error if there are none."""
    try:
        jobs = json.loads(text)["jobs"]
        rows = [_row(job) for job in jobs]
    except json.JSONDecodeError as problem:
        raise error(f"{file}:{problem.lineno}: not JSON ({problem.msg}), expected the output of sacct --json") from None
    except (KeyError, TypeError, AttributeError) as problem:
        message = f"{file}: no jobs as sacct --json writes them ({type(problem).__name__}: {problem})"
        raise error(f"{plain(message)}, expected a list 'jobs' of objects with job_id, time and state") from None
    return "\n".join(SEPARATOR.join(row) for row in (COLUMNS, *rows))


def _row(job):
    about = job.get("association") or {}
    time = job["time"]
    number = str(_number(job["job_id"]))
    array = job.get("array") or {}
    component = job.get("het") or {}
    first, task = map(_number, map(array.get, ("job_id", "task_id")))
    tres = {kind: _tres((job.get("tres") or {}).get(kind)) for kind in ("allocated", "requested")}
    cpus = {kind: _amount(text, "cpu") for kind, text in tres.items()}
    required = job.get("required") or {}
    fields = {
        "JobID": f"{first}_{task}" if first and task != "" else number,
        "JobIDRaw": number,
        "Group": job.get("group"),
        "JobName": job.get("name"),
        "Reservation": (job.get("reservation") or {}).get("name"),
        "Submit": _instant(time.get("submission")),
        "Eligible": _instant(time.get("eligible")),
        "Start": _instant(time.get("start")),
        "End": _instant(time.get("end")),
        "ElapsedRaw": _number(time.get("elapsed")),
        "TimelimitRaw": _number(time.get("limit")) or "UNLIMITED",
        "AllocCPUS": cpus["allocated"],
        "ReqCPUS": cpus["requested"] or _number(required.get("CPUs")),
        "NNodes": _number(job.get("allocation_nodes")),
        "AllocTRES": tres["allocated"],
        "ReqTRES": tres["requested"],
        "NodeList": job.get("nodes"),
        "State": _state(job.get("state")),
    }
    fields |= {name: job.get(name.lower()) or about.get(name.lower()) for name in COLUMNS if name not in fields}
    if "job_offset" in component and _number(component.get("job_id")):
        fields["JobID"] = f"{_number(component['job_id'])}+{_number(component['job_offset']) or 0}"
    return [str(fields[name] or "").replace("\n", " ") for name in COLUMNS]


def _number(value):
    """Return a number, which may be in an object that says whether it is set; empty if it is not, or has no end."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    return "" if value is None else value


def _instant(value):
    return _number(value) or "Unknown"


def _state(value):
    """Return the first state of a job; others say what happens to it besides."""
    value = value.get("current") if isinstance(value, dict) else value
    return value[0] if isinstance(value, list) and value else value


def _tres(entries):
    names = [
        (f"{entry['type']}/{entry['name']}" if entry.get("name") else entry["type"], entry) for entry in entries or ()
    ]
    return ",".join(f"{name}={_number(entry.get('count'))}" for name, entry in names)


def _amount(tres, name):
    return next((part.partition("=")[2] for part in tres.split(",") if part.startswith(f"{name}=")), "")

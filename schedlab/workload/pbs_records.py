"""The records of PBS, OpenPBS and Torque, as texts by name; see `schedlab.workload.accounting.read_pbs`."""

import re

from schedlab._runtime.text import spelt

from .fields import clipped

# 03/01/2024 09:10:00;E;100.srv;user=ann ...: when, an event by its letter, a job, and what is known of it.
RECORD = re.compile(r"(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d)(?:\.\d+)?;([A-Za-z]);([^;]*);(.*)")
# 100.srv; of an array 100[3].srv (100-3.srv in old versions of Torque), and 100[].srv as a whole.
JOB = re.compile(r"([0-9]{1,15})(\[[0-9]*\]|-[0-9]+)?(?:\..*)?")
DATE = "%m/%d/%Y %H:%M:%S"
# A value ends before the next key. One with blanks is in quotes (OpenPBS), or is not (Torque).
_KEY = r"[A-Za-z_][\w.-]*="
_FIELD = re.compile(rf"""({_KEY})(?:"([^"]*)"(?=\s|$)|'([^']*)'(?=\s|$)|(\S*(?:\s+(?!{_KEY})\S+)*))""")
_SLOTS = r"[0-9]{1,6}(?:-[0-9]{1,6})?"
_HOST = re.compile(rf"[^/]+/({_SLOTS}(?:,{_SLOTS})*)(?:\*([0-9]{{1,6}}))?")
HOSTS = "hosts and their slots like n1/0*16+n2/0*16, n1/0-15 or n1/0+n1/1"
# Not kept: what other fields say, too, numbers of processes, and what names people.
LEFT = ("exec_vnode", "qtime", "session", "Resource_List.neednodes", "owner", "requestor", "submit_host")
LEFT += ("Variable_List", "Submit_arguments", "Output_Path", "Error_Path", "init_work_dir", "mail_users")
STATES = {"": "", "0": "COMPLETED", "-29": "TIMEOUT"}  # by Exit_status; -29 is PBS Professional's walltime limit
# The names of the columns are those of the fields, with _ for a dot.
ROLES = {"submit": "ctime", "eligible": "etime", "start": "start", "end": "end", "procs": "procs", "status": "state"}
ROLES |= {"estimate": "Resource_List_walltime", "user": "user", "group": "group", "account": "account"}
ROLES |= {"queue": "queue", "job_name": "jobname", "reservation": "resvID"}


def fields(text: str) -> dict[str, str]:
    """Return the values of a record by their keys."""
    return {match[1][:-1]: match[2] or match[3] or match[4] or "" for match in _FIELD.finditer(text)}


def row(job: re.Match, values: dict[str, str], again: bool = False) -> dict[str, str]:
    """Return the columns of a run, `again` if the job was run again; raise ValueError if its hosts cannot be read."""
    columns = {name.replace(".", "_"): value for name, value in values.items() if name not in LEFT}
    code = values.get("Exit_status", "")
    columns["ctime"] = values.get("ctime") or values.get("qtime", "")
    columns["procs"] = str(_procs(values) or "")
    columns["gpus"] = str(_gpus(values))
    columns["state"] = "REQUEUED" if again else STATES.get(code, "FAILED")
    return columns | {"number": job[1], "job_id": f"{job[1]}{job[2] or ''}"}


def _procs(values):
    """Count what a run had: by PBS Professional's chunks, else by its hosts.

    Of systems that record less, these list one slot of each host, and Resource_List.ncpus has the processors.
    """
    requested = values.get("Resource_List.ncpus", "0")
    if not requested.isdigit():
        raise ValueError(f"field Resource_List.ncpus is {spelt(clipped(requested))}, expected a whole number")
    return _sum(values.get("exec_vnode", ""), "ncpus") or max(_slots(values.get("exec_host", "")), int(requested))


def _slots(hosts):
    count = 0
    for host in filter(None, hosts.split("+")):
        match = _HOST.fullmatch(host)
        ranges = [slots.partition("-") for slots in match[1].split(",")] if match else []
        lengths = [int(last or first) - int(first) + 1 for first, _, last in ranges]
        if min(lengths, default=0) < 1:
            raise ValueError(f"field exec_host is {spelt(clipped(hosts))}, expected {HOSTS}")
        count += sum(lengths) * int(match[2] or 1)
    return count


def _gpus(values):
    """Count the GPUs of a run: those of its chunks, or else those that it asked for."""
    if "exec_vnode" in values:
        return _sum(values["exec_vnode"], "ngpus")
    total = values.get("Resource_List.ngpus", "")
    if total.isdigit():
        return int(total)
    return _sum(values.get("Resource_List.select", ""), "ngpus") or _sum(values.get("Resource_List.nodes", ""), "gpus")


def _sum(chunks, resource):
    """Add up a resource over chunks: (n1:ncpus=16)+(n2:ncpus=4) of nodes, 2:ncpus=16+1:ncpus=4 with their counts."""
    total = 0
    for chunk in chunks.split("+"):
        first, *parts = chunk.strip("()").split(":")
        times = int(first) if first.isdigit() and not chunks.startswith("(") else 1
        amounts = [part.partition("=")[2] for part in (first, *parts) if part.startswith(f"{resource}=")]
        total += times * sum(int(amount) for amount in amounts if amount.isdigit())
    return total

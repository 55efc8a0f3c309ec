"""The archive's traces: which exist, where a local copy is, and whether a copy has the archive's text.

A trace goes by the official name of its file. It is looked up first in the folder named by the environment variable
``SCHEDLAB_DATA``, which is only read, then in the cache. If it is in neither, it is downloaded from the archive, and
gets its final name only when it is complete and verified.

Checksums are of the *uncompressed* text, because the same log may be compressed differently. That of every verified
file is noted in the cache, as ``NAME.swf.gz.sha256``: an unchanged file is not hashed again, and if the catalogue has
no checksum, later copies must match the text seen first. Notes are trusted only where nobody else can have written them
(`schedlab._runtime.paths.own_folder`).

References
----------
D. G. Feitelson, D. Tsafrir, D. Krakov, "Experience with using the Parallel Workloads Archive", J. Parallel
Distrib. Comput. 74(10), 2014, pp. 2967-2982.
"""

import gzip
import hashlib
import os
import re
import shutil
import warnings
import zlib
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pandas as pd

from schedlab._runtime import paths
from schedlab._runtime.files import content
from schedlab._runtime.remarks import SchedlabWarning, logger
from schedlab._runtime.remarks import progress as is_on
from schedlab._runtime.text import spelt, suggestion

from . import packed
from .copies import copied

BASE_URL = "https://www.cs.huji.ac.il/labs/parallel/workload"

LOG, STANDIN = "log ", "stand-in of "  # beginnings of labels; see `digest_now`

_COUNTS = ("bytes", "procs", "jobs")
_OFFICIAL = re.compile(r"(?P<log>.+-\d{4})-(?P<version>\d+(\.\d+)*)(?P<cleaned>-cln)?")
_BLOCK = 1 << 20


class TraceNotFound(LookupError):
    """There is no such trace, or no copy of it can be obtained."""


class TraceCorrupt(ValueError):
    """A file or a download (`place`, its path or URL) does not have the archive's text: `fault` says why."""

    def __init__(self, place, fault):
        super().__init__(str(place), fault)
        self.place, self.fault = self.args

    def __str__(self):
        return f"{self.place}: {self.fault}"


def catalogue() -> pd.DataFrame:
    """Return what is known about each of the archive's files, by official name; ``data/README.md`` has the columns.

    Unknown texts are empty; unknown ``bytes``, ``procs`` and ``jobs``, which are Int64, are missing values.
    """
    return copied(_read_catalogue(paths.data_dir() / "archive.csv"))


@cache
def _read_catalogue(path):
    table = pd.read_csv(path, index_col="name", dtype=str, keep_default_na=False, encoding="utf-8")
    return table.assign(**{count: pd.to_numeric(table[count]).astype("Int64") for count in _COUNTS})


def resolve(name: str) -> str:
    """Return the official name for a full name, or for one without its last dash-separated parts, in any case.

    Of several versions of a log, a cleaned one is preferred, then the highest: "CTC-SP2-1996-3.1-cln" for
    "CTC-SP2-1996". Raise TraceNotFound if no trace, or more than one log, matches the name.
    """
    if not isinstance(name, str):
        raise TypeError(f"name is {spelt(name)}, expected the name of a trace, such as 'CTC-SP2-1996'")
    official = {known.casefold(): known for known in catalogue().index}
    key = name.casefold()
    if key in official:
        return official[key]
    fits = [known for folded, known in official.items() if folded.startswith(f"{key}-")]
    logs = {_edition(known)[0] for known in fits}
    if len(logs) == 1:
        return max(fits, key=_edition)
    if logs:
        raise TraceNotFound(f"{name!r} matches several traces: {', '.join(sorted(logs))}")
    # Compare with the logs' names only: a version suffix would blur the comparison.
    stems = {folded: _edition(folded)[0] for folded in official}
    near = get_close_matches(key, dict.fromkeys(stems.values()), 2)
    known = [official[folded] for stem in near for folded in stems if stems[folded] == stem]
    rest = f"{len(official) - len(known)} more" if known else f"{len(official)} traces"
    listed = f"{', '.join([*known, rest])} (list_traces() or `schedlab traces` lists them)"
    logs = [_edition(known)[0] for known in official.values()]
    raise TraceNotFound(f"unknown trace {name!r}; known: {listed}{suggestion(name, logs)}")


def _edition(name):
    """Split an official name into log, whether cleaned, and version; sorts in the order that `resolve` prefers."""
    parts = _OFFICIAL.fullmatch(name)
    if parts is None:
        return name, False, ()
    version = tuple(int(part) for part in parts["version"].split("."))
    return parts["log"], parts["cleaned"] is not None, version


def find(name: str) -> Path | None:
    """Return the path of a local copy, from the folder ``SCHEDLAB_DATA`` or else from the cache, without opening it.

    The file is ``NAME.swf.gz``, or else ``NAME.swf``. `fetch` also verifies its text.
    """
    return _locate(resolve(name))[1]


def _locate(name):
    """Return the place ("SCHEDLAB_DATA", "cache" or "") and the path (or None) of an official name."""
    folder_of_logs = os.environ.get("SCHEDLAB_DATA")
    folders = {"SCHEDLAB_DATA": Path(folder_of_logs).expanduser()} if folder_of_logs else {}
    for place, folder in (folders | {"cache": paths.cache_dir("traces")}).items():
        for path in (folder / f"{name}.swf.gz", folder / f"{name}.swf"):
            # A cached log can be trusted if its checksum is known, or if only this user can have put it there.
            if path.is_file() and (place != "cache" or catalogue().loc[name, "sha256"] or paths.own_folder("traces")):
                return place, path
    return "", None


def digest_now(label: str) -> str:
    """Return a digest of what a label stands for at present: equal for equal jobs, on any machine; empty for nothing.

    The label, as `schedlab._runtime.files` records it, is `LOG` and the official name of a log: the log itself, or else
    its stand-in; or `STANDIN` and a name; or the path of a file.
    """
    if label.startswith(LOG):
        name = label.removeprefix(LOG)
        _, path = _locate(name)
        if path is not None:
            return catalogue().loc[name, "sha256"] or content(path)
        label = f"{STANDIN}{name}"
    if label.startswith(STANDIN):
        return f"stand-in {content(standin_table(label.removeprefix(STANDIN)))}"
    return content(label)


def standin_table(name: str) -> Path:
    """Return the path of the table from which a log's stand-in is generated; the file need not exist."""
    return paths.data_dir() / "standins" / f"{resolve(name)}.json.gz"


def fetch(name: str, progress: bool = True) -> Path:
    """Return the path of a copy that was verified since it last changed; download the trace if there is none.

    A damaged file in the cache is replaced, with a warning; a bad download is deleted; a user's file never is. Raise
    TraceNotFound, which says what to do by hand, if no copy can be obtained; TraceCorrupt if the user's own file, the
    download, or a cached file that cannot be replaced does not have the archive's text.
    """
    name = resolve(name)
    place, path = _locate(name)
    if path is None:
        return _download(name, progress)
    if _noted(name) == _memo(name, _expected(name), path):  # unchanged since its text was verified
        return path
    try:
        verify(path, name)
        return path
    except TraceCorrupt as error:
        if place != "cache":
            raise
        damage = error
    try:
        fresh = _download(name, progress)
    except (TraceNotFound, TraceCorrupt) as failure:
        raise TraceCorrupt(path, f"{damage.fault}; no new copy could be fetched\n{failure}") from None
    warnings.warn(f"{damage}; fetched again", SchedlabWarning, stacklevel=2)
    return fresh


def verify(path: str | Path, name: str) -> None:
    """Read a whole file, gzipped or not, and raise TraceCorrupt unless it is the complete text of a trace."""
    name = resolve(name)
    path = Path(path)
    digest = _digest(path)
    check_digest(name, digest, path)
    _remember(name, digest, path)


def check_digest(name: str, digest: str, path: str | Path) -> None:
    """Raise TraceCorrupt if the SHA-256 of a text that was read from `path` is not the expected one.

    If neither the catalogue nor an earlier copy gives a checksum, any text is accepted.
    """
    name = resolve(name)
    expected = _expected(name)
    if not expected or digest == expected:
        return
    fault = f"not the archive's text of {name}: its SHA-256 is {digest}, expected {expected}"
    if not catalogue().loc[name, "sha256"]:
        fault += f", that of the first copy seen (delete {_note(name)} to take the new text instead)"
    raise TraceCorrupt(path, fault)


def list_traces() -> pd.DataFrame:
    """List the traces that can be loaded by name.

    One row per trace: ``name``, ``machine``, ``procs``, ``jobs``, ``period`` ("start to end"), ``local``, the place of
    a copy ("SCHEDLAB_DATA", "cache", or "" if there is none), and ``stand_in``, whether a stand-in can be generated
    (``load_trace(name, standin=True)``).

    Examples
    --------
    >>> import schedlab as sl
    >>> traces = sl.list_traces().set_index("name")
    >>> str(traces.loc["KTH-SP2-1996-2.1-cln", "machine"]), int(traces.loc["KTH-SP2-1996-2.1-cln", "jobs"])
    ('IBM SP2, KTH Stockholm', 28476)
    """
    table = catalogue()
    table["period"] = (table["start"] + " to " + table["end"]).where(table["start"] != "", "")
    table["local"] = [_locate(name)[0] for name in table.index]
    table["stand_in"] = [standin_table(name).is_file() for name in table.index]
    return table.reset_index()[["name", "machine", "procs", "jobs", "period", "local", "stand_in"]]


def _download(name, progress):
    from requests import HTTPError, RequestException  # raised by pooch

    folder = catalogue().loc[name, "folder"]
    if not folder:
        raise TraceNotFound(_by_hand(name, "the archive does not keep it"))
    target = (paths.own_folder("traces") or paths.cache_dir("traces")) / f"{name}.swf.gz"
    target.parent.mkdir(parents=True, exist_ok=True)  # so that an error says why the folder could not be made
    url = f"{BASE_URL}/{folder}/{target.name}"
    # Download within the cache, so that the last step is a rename. The folder is always removed with its contents.
    with TemporaryDirectory(prefix=".fetch-", dir=target.parent) as scratch:
        part = Path(scratch, target.name)
        try:
            _get(url, part, progress)
            digest = _digest(part)
            check_digest(name, digest, url)
        except HTTPError as error:
            answer = f"{url} answered {error.response.status_code} {error.response.reason}"
            raise TraceNotFound(_by_hand(name, answer, f"{BASE_URL}/logs.html")) from None
        except RequestException as error:
            trouble = f"no complete answer from {urlsplit(url).netloc} ({type(error).__name__})"
            raise TraceNotFound(_by_hand(name, trouble, url)) from None
        except TraceCorrupt as error:
            raise TraceCorrupt(url, f"{error.fault}; the download was deleted") from None
        if not packed.is_gzipped(part):  # some servers declare a .gz file as text with gzip content encoding
            with open(part, "rb") as text, gzip.open(part.with_suffix(".packed"), "wb") as out:
                shutil.copyfileobj(text, out, _BLOCK)
            part = part.with_suffix(".packed")
        os.replace(part, target)
    _remember(name, digest, target)
    logger.info("fetched %s from %s", name, url)
    return target


def _get(url, path, progress):
    # Importing pooch takes a quarter of a second, and most sessions find their traces locally.
    from pooch import HTTPDownloader

    with ExitStack() as answers:
        # pooch leaves a response that it cannot use open, together with its socket.
        def close_later(answer, **_):
            answers.callback(answer.close)

        download = HTTPDownloader(progressbar=progress and is_on(), chunk_size=_BLOCK, hooks={"response": close_later})
        download(url, str(path), None)


def _by_hand(name, trouble, source=None):
    """Tell the user what to do about a trace that could not be fetched."""
    at_hand = [known for known in catalogue().index if _locate(known)[1]]
    lines = [f"cannot fetch {name}: {trouble}"]
    lines += [f"  get by hand     {name}.swf.gz" + (f" from {source}" if source else "")]
    lines += [f"  and put it in   {paths.cache_dir('traces')}"]
    lines += [f"  or the folder   SCHEDLAB_DATA ({_folder_of_logs()})"]
    if standin_table(name).is_file():
        lines += ["  or simulate     a stand-in, a generated look-alike: standin=True"]
    return "\n".join([*lines, f"  at hand now     {', '.join(at_hand) or 'none'}"])


def _folder_of_logs():
    folder = os.environ.get("SCHEDLAB_DATA")
    return f"now {folder}{'' if Path(folder).is_dir() else ', which is no folder'}" if folder else "now not set"


def _digest(path):
    """Return the SHA-256 of the text in a file, after checking that it is complete and looks like SWF."""
    sha = hashlib.sha256()
    head = tail = b""
    try:
        with packed.opener(path) as text:
            while block := text.read(_BLOCK):
                sha.update(block)
                head = head or block
                tail = (tail + block)[-4096:]
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TraceCorrupt(path, f"not a sound gzip file ({error})") from None
    first = re.search(rb"^[ \t]*[^;\s].*", head, re.MULTILINE)
    last = tail.rstrip().rpartition(b"\n")[2]
    for line in (first[0] if first else b"", last):
        if not _is_record(line):
            text = line[:60].decode(errors="replace")
            raise TraceCorrupt(path, f"does not look like SWF: found {text!r}, expected 18 numbers")
    return sha.hexdigest()


def _is_record(line):
    fields = line.split()
    with suppress(ValueError):
        return len([float(field) for field in fields]) == 18
    return False


def _note(name):
    return paths.cache_dir("traces") / f"{name}.swf.gz.sha256"


def _expected(name):
    """Return the expected checksum of a trace's text: the catalogue's, or else the noted one, or else ""."""
    return catalogue().loc[name, "sha256"] or _noted(name).partition(" ")[0]


def _noted(name):
    """Return the text of the note on a trace; "" if there is no note that can be trusted."""
    with suppress(OSError, UnicodeDecodeError):
        if paths.own_folder("traces"):
            with open(_note(name), encoding="utf-8") as note:
                return note.read() if paths.is_own(note) else ""
    return ""


def _memo(name, digest, path):
    """Format a note: the checksum, and the size, modification time and path that identify the file."""
    now = path.stat()
    return f"{digest}  {name}.swf\n{now.st_size} {now.st_mtime_ns} {str(path.resolve())!a}\n"


def _remember(name, digest, path):
    # If the cache cannot be written, the only cost is to verify the file again next time.
    with suppress(OSError):
        if paths.own_folder("traces"):
            _note(name).write_text(_memo(name, digest, path), encoding="utf-8")


def standing_in(names: Iterable[str]) -> tuple[str, ...]:
    """Return a note that stand-ins are simulated for those logs that have no local copy; none if all have one."""
    missing = [name for name in names if find(resolve(name)) is None]
    message = (
        f"No log at hand for {', '.join(missing)}: stand-ins are simulated instead, generated from figures fitted to "
        f"the logs. `schedlab traces --fetch {' '.join(missing)}` gets the logs, or set SCHEDLAB_DATA to a folder that "
        "has them."
    )
    return (message,) if missing else ()

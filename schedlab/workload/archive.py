"""The archive's traces: which exist, where a local copy is, and whether a copy has the archive's text.

A trace goes by the official name of its file. It is looked up first in the folder named by the environment variable
``SCHEDLAB_DATA``, then in the cache. If it is in neither, it is downloaded from the archive's own address. A download
gets its final name only when it is complete and its text is verified.

Checksums are of the *uncompressed* text, because the same log may be compressed differently. The checksum of every
verified file is noted in the cache, as ``NAME.swf.gz.sha256``, for two reasons. If the catalogue has no checksum, later
copies must match the text seen first. And a file that has not changed since is not hashed again. Notes are trusted only
where nobody else can have written them (`schedlab._runtime.paths.own_folder`). The user's own folder is only read,
never written to.

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
from schedlab._runtime.text import suggestion

from .copies import copied

BASE_URL = "https://www.cs.huji.ac.il/labs/parallel/workload"

LOG, STANDIN = "log ", "stand-in of "  # beginnings of labels; see `digest_now`

_COUNTS = ("bytes", "procs", "jobs")
_OFFICIAL = re.compile(r"(?P<log>.+-\d{4})-(?P<version>\d+(\.\d+)*)(?P<cleaned>-cln)?")
_BLOCK = 1 << 20


class TraceNotFound(LookupError):
    """There is no such trace, or no copy of it can be obtained."""


class TraceCorrupt(ValueError):
    """A file or a download does not have the archive's text.

    Attributes
    ----------
    place : str
        The path or the URL.
    fault : str
        What is wrong there.
    """

    def __init__(self, place, fault):
        super().__init__(str(place), fault)
        self.place, self.fault = self.args

    def __str__(self):
        return f"{self.place}: {self.fault}"


def catalogue() -> pd.DataFrame:
    """Return what is known about each of the archive's files.

    Returns
    -------
    DataFrame
        Indexed by official name. Text columns ``folder`` (in the archive; empty if the archive does not have the file),
        ``sha256`` (of the uncompressed text), ``machine``, ``start``, ``end`` (ISO dates, some without a day),
        ``acknowledge`` (whom to thank) and ``note`` are empty if unknown. Int64 columns ``bytes`` (of the uncompressed
        text), ``procs`` and ``jobs`` (records in the file) are missing values if unknown.

    Examples
    --------
    >>> int(catalogue().loc["KTH-SP2-1996-2.1-cln", "procs"])
    100
    """
    # Copied, so that a caller's changes do not affect other callers.
    return copied(_read_catalogue(paths.data_dir() / "archive.csv"))


@cache
def _read_catalogue(path):
    table = pd.read_csv(path, index_col="name", dtype=str, keep_default_na=False, encoding="utf-8")
    return table.assign(**{count: pd.to_numeric(table[count]).astype("Int64") for count in _COUNTS})


def resolve(name: str) -> str:
    """Return the official name for a full or abbreviated name.

    Parameters
    ----------
    name : str
        In upper or lower case; the full name, or the name without its last dash-separated parts. If a log has several
        versions, a cleaned one is preferred, then the highest version.

    Raises
    ------
    TraceNotFound
        If no trace, or more than one log, matches the name.

    Examples
    --------
    >>> resolve("CTC-SP2-1996")
    'CTC-SP2-1996-3.1-cln'
    """
    if not isinstance(name, str):
        raise TypeError(f"name is {name!r}, expected the name of a trace, such as 'CTC-SP2-1996'")
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
    """Return the path of a local copy: from the folder ``SCHEDLAB_DATA``, or else from the cache.

    The file is not opened. `fetch` also verifies its text.

    Parameters
    ----------
    name : str
        Any name that `resolve` accepts. The file is ``NAME.swf.gz``, or else ``NAME.swf``.

    Raises
    ------
    TraceNotFound
        If there is no trace of that name.
    """
    return _locate(resolve(name))[1]


def _locate(name):
    """Return the place ("SCHEDLAB_DATA", "cache" or "") and the path (or None) of an official name."""
    for place, folder in _folders().items():
        for path in (folder / f"{name}.swf.gz", folder / f"{name}.swf"):
            if path.is_file() and (place != "cache" or _can_be_checked(name)):
                return place, path
    return "", None


def _folders():
    """Return the folders in which logs are looked up, in this order."""
    own = os.environ.get("SCHEDLAB_DATA")
    return ({"SCHEDLAB_DATA": Path(own).expanduser()} if own else {}) | {"cache": paths.cache_dir("traces")}


def digest_now(label: str) -> str:
    """Return a digest of what a label stands for at present, as `schedlab._runtime.files` records it.

    Parameters
    ----------
    label : str
        `LOG` and the official name of a log: the log itself, or else its stand-in. `STANDIN` and a name: the stand-in.
        Or the path of a file.

    Returns
    -------
    str
        Equal for equal jobs, on any machine; empty if there is nothing.
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


def _can_be_checked(name):
    """Tell whether a cached log can be trusted: its checksum is known, or only this user can have put it there."""
    return bool(catalogue().loc[name, "sha256"]) or paths.own_folder("traces") is not None


def standin_table(name: str) -> Path:
    """Return the path of the table from which a log's stand-in is generated; the file need not exist.

    Parameters
    ----------
    name : str
        Any name that `resolve` accepts.
    """
    return paths.data_dir() / "standins" / f"{resolve(name)}.json.gz"


def fetch(name: str, progress: bool = True) -> Path:
    """Return the path of a verified copy; download the trace if there is none.

    Parameters
    ----------
    name : str
        Any name that `resolve` accepts.
    progress : bool
        Whether a download shows a progress bar.

    Returns
    -------
    Path
        A file whose text has been verified since it last changed.

    Raises
    ------
    TraceNotFound
        If there is no trace of that name, or no local copy and none can be downloaded; the message says what to do by
        hand.
    TraceCorrupt
        If the user's own file, the download, or a cached file that cannot be replaced does not have the archive's
        text. A bad download is deleted; a user's file never is.

    Warns
    -----
    UserWarning
        If a damaged file in the cache was replaced.
    """
    name = resolve(name)
    place, path = _locate(name)
    if path is None:
        return _download(name, progress)
    if _unchanged(name, path):
        return path
    try:
        verify(path, name)
        return path
    except TraceCorrupt as found:
        if place != "cache":
            raise
        damage = found
    try:
        fresh = _download(name, progress)
    except (TraceNotFound, TraceCorrupt) as failure:
        raise TraceCorrupt(path, f"{damage.fault}; no new copy could be fetched\n{failure}") from None
    warnings.warn(f"{damage}; fetched again", stacklevel=2)
    return fresh


def verify(path: str | Path, name: str) -> None:
    """Read a whole file, and check that it is the complete text of a trace.

    Parameters
    ----------
    path : str or Path
        The file, gzipped or not, whatever its name.
    name : str
        Any name that `resolve` accepts.

    Raises
    ------
    TraceCorrupt
        If the gzip data are broken or incomplete, the text does not look like SWF, or its checksum is not the
        catalogue's. If the catalogue has no checksum, the text is compared with the first copy seen.
    """
    name, path = resolve(name), Path(path)
    digest = _digest(path)
    check_digest(name, digest, path)
    _remember(name, digest, path)


def check_digest(name: str, digest: str, path: str | Path) -> None:
    """Compare the checksum of a text that has already been read with the expected one.

    Parameters
    ----------
    name : str
        Any name that `resolve` accepts.
    digest : str
        SHA-256 of the uncompressed text, in hexadecimal.
    path : str or Path
        Where the text was read from, for the message.

    Raises
    ------
    TraceCorrupt
        If the two differ. If neither the catalogue nor an earlier copy gives a checksum, any text is accepted.
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

    Returns
    -------
    DataFrame
        One row per trace: ``name``, ``machine``, ``procs``, ``jobs``, ``period`` ("start to end"), ``local``, the place
        of a copy ("SCHEDLAB_DATA", "cache", or "" if there is none), and ``stand_in``, whether a stand-in can be
        generated (``load_trace(name, standin=True)``).

    Examples
    --------
    >>> import schedlab as sl
    >>> traces = sl.list_traces().set_index("name")
    >>> str(traces.loc["KTH-SP2-1996-2.1-cln", "machine"]), int(traces.loc["KTH-SP2-1996-2.1-cln", "jobs"])
    ('IBM SP2, KTH Stockholm', 28476)
    """
    table = catalogue()
    period = (table["start"] + " to " + table["end"]).where(table["start"] != "", "")
    table = table.assign(
        period=period,
        local=[_locate(name)[0] for name in table.index],
        stand_in=[standin_table(name).is_file() for name in table.index],
    )
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
        if not _is_packed(part):
            part = _pack(part)
        os.replace(part, target)
    _remember(name, digest, target)
    return target


def _get(url, path, progress):
    # Importing pooch takes a quarter of a second, and most sessions find their traces locally.
    from pooch import HTTPDownloader

    with ExitStack() as answers:
        # pooch leaves a response that it cannot use open, together with its socket.
        def close_later(answer, **_):
            answers.callback(answer.close)

        download = HTTPDownloader(progressbar=progress, chunk_size=_BLOCK, hooks={"response": close_later})
        download(url, str(path), None)


def _by_hand(name, trouble, source=None):
    """Tell the user what to do about a trace that could not be fetched."""
    at_hand = [known for known in catalogue().index if _locate(known)[1]]
    return "\n".join(
        [
            f"cannot fetch {name}: {trouble}",
            f"  get by hand     {name}.swf.gz" + (f" from {source}" if source else ""),
            f"  and put it in   {paths.cache_dir('traces')}",
            f"  or the folder   SCHEDLAB_DATA (now {os.environ.get('SCHEDLAB_DATA') or 'not set'})",
            f"  at hand now     {', '.join(at_hand) or 'none'}",
        ]
    )


def _is_packed(path):
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _pack(path):
    """Compress a text that arrived uncompressed: some servers declare a .gz file as text with gzip content encoding."""
    packed = path.with_suffix(".packed")
    with open(path, "rb") as text, gzip.open(packed, "wb") as out:
        shutil.copyfileobj(text, out, _BLOCK)
    return packed


def _digest(path):
    """Return the SHA-256 of the text in a file, after checking that it is complete and looks like SWF."""
    sha, head, tail = hashlib.sha256(), b"", b""
    try:
        with gzip.open(path) if _is_packed(path) else open(path, "rb") as text:
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
            found = line[:60].decode(errors="replace")
            raise TraceCorrupt(path, f"does not look like SWF: found {found!r}, expected 18 numbers")
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


def _unchanged(name, path):
    """Tell whether a file is unchanged since its text was verified."""
    return _noted(name) == _memo(name, _expected(name), path)


def standing_in(names: Iterable[str]) -> tuple[str, ...]:
    """Return a note that stand-ins are simulated for those of the given logs that have no local copy.

    Parameters
    ----------
    names : iterable of str
        Logs of the archive.

    Returns
    -------
    tuple of str
        One note, or none if all logs have local copies.
    """
    missing = [name for name in names if find(resolve(name)) is None]
    if not missing:
        return ()
    return (
        f"No log at hand for {', '.join(missing)}: stand-ins are simulated instead, generated from figures fitted to "
        f"the logs. `schedlab traces --fetch {' '.join(missing)}` gets the logs, or set SCHEDLAB_DATA to a folder that "
        "has them.",
    )

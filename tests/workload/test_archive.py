"""The catalogue, and fetching: against a server of our own that serves, fails and lies on request."""

import gzip
import hashlib
import os
import pickle
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pandas as pd
import pooch
import pytest

from schedlab._runtime import paths
from schedlab.workload import archive
from schedlab.workload.archive import TraceCorrupt, TraceNotFound

pytestmark = pytest.mark.tables

KNOWN, UNKNOWN, LOCAL = "Tiny-Log-2001-1.1-cln", "Tiny-Other-2002-1", "tiny_model"


def swf(jobs: int = 3) -> bytes:
    lines = [f"{job} {60 * job} 0 100 4 -1 -1 4 200 -1 1 1 1 1 1 1 -1 -1" for job in range(1, jobs + 1)]
    return "\n".join(["; Computer: Tiny", "; MaxProcs: 8", "", *lines, ""]).encode()


def sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


TEXT, OTHER = swf(), swf(4)


class Server(HTTPServer):
    """Answers any address with `body`; `requests` counts what was asked."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.status, self.headers = [], 200, {}
        self.body = gzip.compress(TEXT)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        self.send_response(self.server.status)
        for label, value in ({"Content-Length": len(self.server.body)} | self.server.headers).items():
            if value is not None:
                self.send_header(label, str(value))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(archive, "BASE_URL", f"http://127.0.0.1:{server.server_port}/workload")
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def no_server(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(archive, "BASE_URL", f"http://127.0.0.1:{port}/workload")


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SCHEDLAB_DATA", raising=False)
    return tmp_path / "cache" / "traces"


@pytest.fixture
def tiny(monkeypatch):
    """A catalogue of three: checksum known, checksum unknown, not kept by the archive."""
    blank = dict.fromkeys(archive.catalogue().columns, "") | {"bytes": pd.NA, "procs": 8, "jobs": 3}
    rows = {
        KNOWN: {"folder": "l_tiny", "sha256": sha256(TEXT), "start": "2001-01-01", "end": "2001-02-03"},
        UNKNOWN: {"folder": "l_tiny"},
        LOCAL: {},
    }
    table = pd.DataFrame.from_dict({name: blank | row for name, row in rows.items()}, orient="index")
    monkeypatch.setattr(archive, "catalogue", lambda: table.rename_axis("name"))


@pytest.fixture
def own(monkeypatch, tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv("SCHEDLAB_DATA", str(folder))
    return folder


def put(folder: Path, name: str, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    # A file may be changed twice within one tick of the clock; here no two changes have the same time.
    put.clock = getattr(put, "clock", 0) + 1
    os.utime(path, (put.clock, put.clock))
    return path


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


# --- The catalogue ---
def test_catalogue_rows_are_well_formed():
    table = archive.catalogue()
    assert table.index.is_unique
    assert table.index.name == "name"
    assert len(table) == 42
    assert table["sha256"].str.fullmatch(r"([0-9a-f]{64})?").all()
    assert (table["sha256"] != "").sum() == 17
    assert (table["sha256"] != "").equals(table["bytes"].notna())
    assert (table["sha256"] != "").equals(table["jobs"].notna())
    assert table.index[table["folder"] == ""].tolist() == ["lublin_256"]
    assert table["folder"].str.fullmatch(r"(l_[a-z0-9_]+)?").all()
    assert table["start"].str.fullmatch(r"((19|20)\d\d-[01]\d(-[0-3]\d)?)?").all()
    assert (table["start"] <= table["end"]).all()
    assert (table["machine"] != "").all()
    assert table.loc["HPC2N-2002-2.2-cln", "acknowledge"] == "Åke Sandgren, HPC2N"
    assert table.loc["CTC-SP2-1996-3.1-cln", ["procs", "jobs"]].tolist() == [338, 77222]


NAMES = {"CTC-SP2-1996": "CTC-SP2-1996-3.1-cln", "ctc-sp2-1996-3.1-CLN": "CTC-SP2-1996-3.1-cln"}
NAMES |= {"KTH-SP2-1996": "KTH-SP2-1996-2.1-cln", "KTH-SP2-1996-2": "KTH-SP2-1996-2", "kth": "KTH-SP2-1996-2.1-cln"}
NAMES |= {"DAS2-fs3": "DAS2-fs3-2003-1", "lublin_256": "lublin_256"}


@pytest.mark.parametrize("name", NAMES)
def test_resolve(name):
    assert archive.resolve(name) == NAMES[name]


def test_resolve_compares_versions_as_numbers(monkeypatch):
    names = ["A-2001-9", "A-2001-10", "A-2001-2.9-cln", "A-2001-2.10-cln"]
    monkeypatch.setattr(archive, "catalogue", lambda: pd.DataFrame(index=names))
    assert archive.resolve("a") == "A-2001-2.10-cln"
    monkeypatch.setattr(archive, "catalogue", lambda: pd.DataFrame(index=names[:2]))
    assert archive.resolve("a") == "A-2001-10"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CTC-SP2-1966", "unknown trace 'CTC-SP2-1966'; known: CTC-SP2-1996-3.1-cln, "),
        ("LCG-20", "unknown trace 'LCG-20'; known: LCG-2005-1, "),
        ("?", "unknown trace '?'; known: 42 traces (list_traces() or `schedlab traces` lists them)$"),
        ("SDSC-Par", "'SDSC-Par' matches several traces: SDSC-Par-1995, SDSC-Par-1996$"),
    ],
)
def test_resolve_names_what_is_known_nearest_first(name, words):
    with pytest.raises(TraceNotFound, match=f"^{re.escape(words)}".replace(r"\$", "$")):
        archive.resolve(name)


def test_names_are_known_and_text():
    for call in (archive.find, archive.fetch, lambda name: archive.verify("any", name)):
        with pytest.raises(TraceNotFound, match="unknown trace 'nonesuch'"):
            call("nonesuch")
    with pytest.raises(TypeError, match=r"^name is None, expected the name of a trace"):
        archive.resolve(None)


def test_list_traces(tiny, own, cache):
    put(own, f"{KNOWN}.swf", TEXT)
    put(cache, f"{UNKNOWN}.swf.gz", gzip.compress(TEXT))
    table = archive.list_traces()
    assert table.columns.tolist() == ["name", "machine", "procs", "jobs", "period", "local", "stand_in"]
    assert table[["name", "period", "local", "stand_in"]].to_numpy().tolist() == [
        [KNOWN, "2001-01-01 to 2001-02-03", "SCHEDLAB_DATA", False],
        [UNKNOWN, "", "cache", False],
        [LOCAL, "", "", False],
    ]


# --- A good download ---
@pytest.mark.parametrize("name", [KNOWN, UNKNOWN])
def test_download(tiny, server, cache, name):
    path = archive.fetch(name, progress=False)
    assert path == cache / f"{name}.swf.gz" == archive.find(name)
    assert path.parent == paths.cache_dir("traces")
    assert path.read_bytes() == server.body
    assert files(cache) == [f"{name}.swf.gz", f"{name}.swf.gz.sha256"]
    assert Path(f"{path}.sha256").read_text().split()[0] == sha256(TEXT)
    assert server.requests == [f"/workload/l_tiny/{name}.swf.gz"]
    assert cache.stat().st_mode & 0o777 == 0o700  # the user's alone


def test_second_fetch_touches_neither_network_nor_text(tiny, server, monkeypatch):
    first = archive.fetch(KNOWN, progress=False)
    monkeypatch.setattr(archive, "_digest", lambda path: pytest.fail(f"{path} was read again"))
    assert archive.fetch("tiny-log", progress=False) == first
    assert len(server.requests) == 1


def test_progress_bar(tiny, server, capfd):
    archive.fetch(KNOWN, progress=False)
    assert capfd.readouterr() == ("", "")
    archive.fetch(UNKNOWN)
    out, err = capfd.readouterr()
    assert (out, "100%" in err) == ("", True)


def test_download_that_the_transfer_unpacked_is_packed_again(tiny, server):
    server.headers = {"Content-Encoding": "gzip"}
    assert gzip.decompress(archive.fetch(KNOWN, progress=False).read_bytes()) == TEXT


# --- A download that fails leaves nothing, and says what to do ---
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (KNOWN, "{url}/l_tiny/Tiny-Log-2001-1.1-cln.swf.gz answered 404 Not Found"),
        (LOCAL, "the archive does not keep it\n"),
    ],
)
def test_what_the_archive_does_not_have_is_not_found(tiny, server, cache, name, reason):
    server.status, server.body = 404, b"<html>no</html>"
    message = f"cannot fetch {name}: {reason.format(url=archive.BASE_URL)}"
    with pytest.raises(TraceNotFound, match=f"^{re.escape(message)}") as error:
        archive.fetch(name, progress=False)
    assert (f"{archive.BASE_URL}/logs.html" in str(error.value)) == (name == KNOWN) == len(server.requests)
    assert files(cache) == []


def test_no_network(tiny, no_server, own, cache):
    put(own, f"{LOCAL}.swf", TEXT)
    with pytest.raises(TraceNotFound) as error:
        archive.fetch(KNOWN, progress=False)
    message = str(error.value)
    assert re.match(rf"cannot fetch {KNOWN}: no complete answer from 127.0.0.1:\d+ \(ConnectionError\)\n", message)
    for part in (f"{archive.BASE_URL}/l_tiny/{KNOWN}.swf.gz", str(cache), f"SCHEDLAB_DATA (now {own})"):
        assert part in message
    assert re.search(rf"at hand now +{LOCAL}$", message)
    assert error.value.__suppress_context__
    assert files(cache) == []


@pytest.mark.parametrize("progress", [False, True])
def test_truncated_download(tiny, server, cache, progress):
    server.headers = {"Content-Length": len(server.body) + 1000}
    with pytest.raises(TraceNotFound, match=r"no complete answer from 127.0.0.1:\d+ \(ChunkedEncodingError\)"):
        archive.fetch(KNOWN, progress=progress)
    assert files(cache) == []


UNSOUND, NO_SWF = "not a sound gzip file", "does not look like SWF: found "


@pytest.mark.parametrize(
    ("name", "body", "fault"),
    [
        (KNOWN, gzip.compress(OTHER, mtime=0), f"its SHA-256 is {sha256(OTHER)}, expected {sha256(TEXT)}"),
        *[(name, gzip.compress(TEXT, mtime=0)[:-12], UNSOUND) for name in (KNOWN, UNKNOWN)],
        (UNKNOWN, gzip.compress(TEXT, mtime=0) + b"rest", UNSOUND),
        (UNKNOWN, gzip.compress(TEXT, mtime=0)[:10] + b"\xff" * 99, UNSOUND),
        (UNKNOWN, gzip.compress(b"gone fishing\n", mtime=0), f"{NO_SWF}'gone fishing'"),
        (UNKNOWN, gzip.compress(b"six words " * 9, mtime=0), f"{NO_SWF}'six words "),
        (UNKNOWN, gzip.compress(b"17 " * 17, mtime=0), f"{NO_SWF}'17 17 "),
        (UNKNOWN, gzip.compress(b"; a header\n", mtime=0), f"{NO_SWF}''"),
        (UNKNOWN, b"<html>log in</html>", f"{NO_SWF}'<html>log in</html>'"),
        (UNKNOWN, TEXT[:-20], f"{NO_SWF}'3 180 0 "),
        (UNKNOWN, b"", f"{NO_SWF}''"),
    ],
)
def test_wrong_download(tiny, server, cache, name, body, fault):
    # Without a length, a connection that breaks early looks like the end of the file.
    server.body, server.headers = body, {"Content-Length": None}
    message = f"{archive.BASE_URL}/l_tiny/{name}.swf.gz: "
    with pytest.raises(TraceCorrupt, match=f"^{re.escape(message)}.*{re.escape(fault)}.*; the download was deleted$"):
        archive.fetch(name, progress=False)
    assert files(cache) == []


def test_interrupted_download(tiny, server, cache, monkeypatch):
    def interrupted(downloader, url, output_file, caller):
        Path(output_file).write_bytes(gzip.compress(TEXT))
        raise KeyboardInterrupt

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        archive.fetch(KNOWN, progress=False)
    assert files(cache) == []
    assert archive.find(KNOWN) is None


# --- Available copies ---
def test_own_folder_goes_first(tiny, server, own, cache):
    archive.fetch(KNOWN, progress=False)
    plain = put(own, f"{KNOWN}.swf", TEXT)
    assert archive.find(KNOWN) == archive.fetch(KNOWN) == plain
    packed = put(own, f"{KNOWN}.swf.gz", gzip.compress(TEXT, 1))
    assert archive.find(KNOWN) == archive.fetch(KNOWN) == packed
    assert len(server.requests) == 1
    assert files(own) == [plain.name, packed.name]


def test_own_file_with_the_wrong_text_is_an_error_and_stays(tiny, server, own):
    path = put(own, f"{KNOWN}.swf.gz", gzip.compress(OTHER))
    with pytest.raises(TraceCorrupt, match=f"^{re.escape(str(path))}: not the archive's text of {KNOWN}: "):
        archive.fetch(KNOWN)
    assert files(own) == [path.name]
    assert server.requests == []


def test_damaged_cache_is_reported_and_fetched_again(tiny, server, cache):
    path = archive.fetch(KNOWN, progress=False)
    put(cache, path.name, gzip.compress(TEXT)[:-12])
    with pytest.warns(UserWarning, match=f"^{re.escape(str(path))}: not a sound gzip file .*; fetched again$"):
        assert archive.fetch(KNOWN, progress=False) == path
    assert path.read_bytes() == server.body
    assert len(server.requests) == 2


def test_damaged_cache_without_network_is_not_called_a_network_error(tiny, no_server, cache):
    path = put(cache, f"{KNOWN}.swf.gz", gzip.compress(OTHER))
    message = (
        rf"^{re.escape(str(path))}: not the archive's text of {KNOWN}.*no new copy could be fetched\ncannot fetch "
    )
    with pytest.raises(TraceCorrupt, match=message):
        archive.fetch(KNOWN, progress=False)


def test_the_cache_needs_no_network_if_verified_by_hand_and_may_be_read_only(tiny, cache, own, monkeypatch, tmp_path):
    path = put(cache, f"{KNOWN}.swf", TEXT)
    assert archive.fetch(KNOWN) == path
    assert files(cache) == [path.name, f"{KNOWN}.swf.gz.sha256"]
    (tmp_path / "file").touch()
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "file"))
    path = put(own, f"{KNOWN}.swf.gz", gzip.compress(TEXT))
    assert archive.fetch(KNOWN) == path


@pytest.mark.parametrize("place", ["own", "cache"])
def test_text_seen_first_must_come_back(tiny, server, own, cache, place):
    path = put(own if place == "own" else cache, f"{UNKNOWN}.swf.gz", gzip.compress(TEXT))
    assert archive.fetch(UNKNOWN) == path
    server.body = gzip.compress(OTHER)
    put(path.parent, path.name, server.body)
    note = cache / f"{UNKNOWN}.swf.gz.sha256"
    with pytest.raises(TraceCorrupt, match=f"first copy seen .delete {re.escape(str(note))}"):
        archive.fetch(UNKNOWN, progress=False)
    note.unlink()
    assert archive.fetch(UNKNOWN) == path


def test_notes_that_others_may_have_written_are_not_believed(tiny, own, cache):
    path = put(own, f"{KNOWN}.swf.gz", gzip.compress(OTHER))
    put(cache, f"{KNOWN}.swf.gz.sha256", archive._memo(KNOWN, sha256(TEXT), path).encode())
    assert archive.fetch(KNOWN) == path  # the user's own note says that the file is known
    cache.chmod(0o777)
    with pytest.warns(UserWarning, match="is not trusted: others may write to it"), pytest.raises(TraceCorrupt):
        archive.fetch(KNOWN)


def test_a_log_without_a_checksum_is_not_taken_from_a_folder_that_others_may_write_to(tiny, server, cache):
    put(cache, f"{UNKNOWN}.swf.gz", gzip.compress(OTHER))
    cache.chmod(0o777)
    with pytest.warns(UserWarning, match="is not trusted: others may write to it"):
        assert archive.find(UNKNOWN) is None
    cache.chmod(0o700)
    assert archive.find(UNKNOWN) == cache / f"{UNKNOWN}.swf.gz"


def test_a_note_of_somebody_else_is_not_believed(tiny, cache, monkeypatch):
    put(cache, f"{UNKNOWN}.swf.gz", gzip.compress(TEXT))
    archive.fetch(UNKNOWN)
    assert archive._noted(UNKNOWN)
    monkeypatch.setattr(archive.paths, "is_own", lambda stream: False)
    assert not archive._noted(UNKNOWN)


def test_a_text_is_that_of_its_trace_packed_or_plain(tiny, tmp_path):
    for data in (TEXT, gzip.compress(TEXT)):
        archive.verify(put(tmp_path, "any.txt", data), KNOWN)
    with pytest.raises(TraceCorrupt, match="not the archive's text"):
        archive.verify(put(tmp_path, "any.txt", OTHER), KNOWN)
    archive.check_digest(KNOWN, sha256(TEXT), "x.swf")
    archive.check_digest(UNKNOWN, sha256(OTHER), "x.swf")
    with pytest.raises(TraceCorrupt, match=r"^x\.swf: not the archive's text"):
        archive.check_digest(KNOWN, sha256(OTHER), "x.swf")


def test_corrupt_error_survives_a_process_border():
    error = pickle.loads(pickle.dumps(TraceCorrupt(Path("x.swf"), "empty")))
    assert (str(error), error.place, error.fault) == ("x.swf: empty", "x.swf", "empty")


# The logs themselves

TRACES = os.environ.get("SCHEDLAB_DATA")  # read here: the tests run without it


@pytest.mark.traces
@pytest.mark.parametrize("name", archive.catalogue().query("sha256 != ''").index)
def test_catalogue_states_the_facts_of_the_files(name, monkeypatch):
    monkeypatch.setenv("SCHEDLAB_DATA", TRACES)
    path = archive.find(name)
    if path is None:
        pytest.skip(f"{name} is not in {TRACES}")
    archive.verify(path, name)
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    known = archive.catalogue().loc[name]
    assert sha256(text) == known["sha256"]
    assert len(text) == known["bytes"]
    lines = b"\n" + text  # an expression that begins with a line end is found in half of the time
    assert len(re.findall(rb"\n[ \t]*\d", lines)) == known["jobs"]
    assert int(re.findall(rb"\n; *Max(?:Procs|Nodes): *(\d+)", lines)[-1]) == known["procs"]

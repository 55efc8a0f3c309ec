"""The checklist of a release: ``make release-check``. Each check prints a line; one that fails says what is wrong."""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires
from importlib.util import find_spec
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PERMISSIVE = r"\b(0?BSD|MIT|Apache|ISC|PSF|Python Software Foundation|MPL|HPND|Zlib|Redistribution and use in source)\b"
KINDS = {
    "py",
    "pyi",
    "typed",
    "css",
    "js",
    "mjs",
    "html",
    "json",
    "wasm",
    "c",
    "csv",
    "gz",
    "xz",
    "txt",
    "toml",
    "md",
    "swf",
}
USED = "import sys; from schedlab.cli import main; sys.exit(main(sys.argv[1:]))"


def clean(root: Path) -> Iterator[str]:
    """Nothing is changed or untracked."""
    done = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True)
    yield from done.stdout.splitlines()


def versions(root: Path) -> Iterator[str]:
    """The package, its citation and its changelog name the same version, and the same day."""
    version = re.search(r'^__version__ = "(.*)"', (root / "schedlab/__init__.py").read_text("utf-8"), re.MULTILINE)[1]
    citation = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    title = re.search(r"^## \[(.*)\] - (.*)$", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    day = str(citation.get("date-released", "no day"))
    if citation["version"] != version:
        yield f"CITATION.cff has version {citation['version']}, expected {version}"
    if title.groups() != (version, day):
        yield f"CHANGELOG.md begins with {title[1]} - {title[2]}, expected {version} - {day}"
    if (
        re.search(r"^### (Changed|Fixed)", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
        and version == "0.1.0"
    ):
        yield "CHANGELOG.md has changes, but nothing was released before"


def links(root: Path) -> Iterator[str]:
    """What Markdown files of the repository link to is there, and README is read as what it looks like."""
    for path in [*root.glob("*.md"), *(root / "data").glob("*.md")]:
        text = path.read_text("utf-8")
        tokens = [token for block in MarkdownIt().enable("table").parse(text) for token in block.children or ()]
        addresses = [token.attrs.get("href", token.attrs.get("src", "")) for token in tokens]
        for address in filter(None, addresses):
            place, _, anchor = str(address).partition("#")
            target = path.parent / place if place else path
            if address.startswith(("http://", "https://", "mailto:")):
                continue
            if not target.exists():
                yield f"{path.name} links to {address}, which is not there"
            elif anchor and target.suffix == ".md" and anchor not in _anchors(target):
                yield f"{path.name} links to {address}, which has no such heading"
        if any(token.content.count("](") or token.content.startswith("|") for token in tokens if token.type == "text"):
            yield f"{path.name} has a link or a table that is shown as text"


def _anchors(path):
    headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading)).lower().replace(" ", "-")
        for heading in headings
    }


def built(root: Path, folder: Path) -> dict[str, Path]:
    """Build wheel and sdist."""
    code = "import sys, hatchling.build as build; build.build_wheel(sys.argv[1]); build.build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, folder], cwd=root, check=True, stdout=subprocess.DEVNULL)
    return {path.suffix: path for path in folder.iterdir()}


def installs(package: Path, folder: Path) -> Iterator[str]:
    """A package installs into an empty folder, from which nothing can be written, and simulates."""
    target = folder / f"site-{package.suffix[1:]}"
    pip = [sys.executable, "-m", "pip"] if find_spec("pip") else ["uv", "pip"]  # uv's environments have none
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--target", target]
    done = subprocess.run([*pip, "install", *options, package], capture_output=True, text=True)
    if done.returncode:
        yield f"{package.name} does not install: {done.stderr.strip().splitlines()[-1]}"
        return
    subprocess.run(["chmod", "-R", "a-w", target], check=True)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    for words in (["--version"], ["simulate", "lublin", "--jobs", "200", "-q"], ["claims", "pascual2008", "-q"]):
        run = [sys.executable, "-P", "-B", "-c", USED, *words]
        done = subprocess.run(run, cwd=elsewhere, env=_environment(target, folder), capture_output=True, text=True)
        if done.returncode:
            yield f"{package.name}: schedlab {' '.join(words)} gives {done.returncode}: {done.stderr.strip()[-300:]}"
    subprocess.run(["chmod", "-R", "u+w", target], check=True)


def _environment(target, folder):
    known = {name: value for name, value in os.environ.items() if not name.startswith("SCHEDLAB")}
    return known | {"PYTHONPATH": str(target), "SCHEDLAB_CACHE": str(folder / "cache"), "NUMBA_DISABLE_JIT": "1"}


def shipped(packages: dict[str, Path]) -> Iterator[str]:
    """Wheel and sdist have the licence; every table has an origin in data/README.md; no file is of a strange kind."""
    wheel = zipfile.ZipFile(packages[".whl"]).namelist()
    with tarfile.open(packages[".gz"]) as sdist:
        source = sdist.getnames()
    for names in (wheel, source):
        if not any(name.endswith("LICENSE") for name in names):
            yield "LICENSE is not shipped"
    about = (ROOT / "data/README.md").read_text("utf-8")
    rooms = {name.split("/")[2] for name in wheel if name.startswith("schedlab/data/")} - {"README.md"}
    yield from (
        f"data/{room} has no origin and licence in data/README.md" for room in sorted(rooms) if room not in about
    )
    for name in wheel:
        if ".dist-info/" not in name and name.rpartition(".")[2] not in KINDS:
            yield f"{name} is of a kind that nobody expects in a wheel"


def licences() -> Iterator[str]:
    """All that an installation brings along may be used as schedlab itself."""
    left, seen = [Requirement(line) for line in requires("schedlab")], set()
    while left:
        requirement = left.pop()
        if requirement.name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": "lab"})):
            continue
        seen.add(requirement.name)
        try:
            about = metadata(requirement.name)
        except PackageNotFoundError:
            continue  # of another platform
        left += [Requirement(line) for line in requires(requirement.name) or ()]
        words = [
            about.get("License-Expression") or "",
            about.get("License") or "",
            *(about.get_all("Classifier") or ()),
        ]
        if not re.search(PERMISSIVE, " ".join(words), re.IGNORECASE):
            yield f"{requirement.name} has no licence that is known to be permissive"


def examples() -> Iterator[str]:
    """The examples of docstrings, the README's code and the numbers of pages are as they are shown."""
    tests = [f"tests/house/test_{name}.py" for name in ("examples", "readme", "measured", "environment")]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", *tests], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        yield from (line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR")))


def main() -> int:
    """Run all checks; 1 if one of them fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "packages").mkdir()
        packages = built(ROOT, folder / "packages")
        checks = {
            "clean tree": clean(ROOT),
            "versions agree": versions(ROOT),
            "links and README": links(ROOT),
            "wheel installs and runs": installs(packages[".whl"], folder),
            "sdist installs and runs": installs(packages[".gz"], folder),
            "what is shipped": shipped(packages),
            "licences of dependencies": licences(),
            "examples and numbers": examples(),
        }
        failed = 0
        for words, check in checks.items():
            problems = list(check)
            failed += bool(problems)
            print(f"{'FAILED' if problems else 'ok':<8}{words}", *problems, sep="\n        ", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())

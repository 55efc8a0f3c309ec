"""The lowest versions that pyproject.toml allows, as a list for pip: ``python tests/lowest.py > requirements.txt``.

The packages that pyproject.toml names for use (with the lab and Parquet, without tests) get their lower bounds.
Everything else is as in requirements.lock, so that the list is the same every day. pip finds what older versions need
in addition.
"""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
EXTRAS = ("lab", "parquet")


def lowest(project: dict, lock: list[str]) -> list[str]:
    """Replace the locked versions of the requirements of pyproject.toml's table "project" by their lower bounds.

    A requirement without one is an error.
    """
    bounds = {}
    for line in sum((project["optional-dependencies"][extra] for extra in EXTRAS), project["dependencies"]):
        requirement = Requirement(line)
        bound = [part.version for part in requirement.specifier if part.operator == ">="]
        if not bound:
            raise ValueError(f"pyproject.toml: {line!r} has no lower bound, expected {requirement.name}>=...")
        bounds[canonicalize_name(requirement.name)] = bound[0]
    others = [line for line in lock if canonicalize_name(Requirement(line).name) not in bounds]
    return sorted([*others, *(f"{name}=={version}" for name, version in bounds.items())])


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    print(*lowest(project, (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()), sep="\n")

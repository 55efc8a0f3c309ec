"""A build hook of hatchling: data for the wheel, without what only tests and full-size runs need.

Left out are quick ledgers, and columns of kept results that no card shows (`results/unneeded.json`, which
`tests/kept_columns.py` writes). Everything else goes in as it is.
"""

import csv
import gzip
import io
import json
import shutil
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Data(BuildHookInterface):
    """Adds the data to the wheel."""

    def initialize(self, version: str, build_data: dict) -> None:
        """Name all files; those that become smaller are written to a folder that `finalize` deletes."""
        self.folder = Path(tempfile.mkdtemp())
        if version == "editable":  # works on the files of the checkout
            return
        data = Path(self.root, "data")
        unneeded = json.loads((data / "results/unneeded.json").read_text(encoding="utf-8"))
        for path in sorted(data.rglob("*.*")):
            name = path.relative_to(data).as_posix()
            if not path.is_file() or path.name.startswith("quick-") or path.suffix in (".py", ".pyc"):
                continue
            columns = unneeded.get(name.removeprefix("results/"), [])
            source = self._without(path, columns) if columns else path
            build_data["force_include"][str(source)] = f"schedlab/data/{name}"

    def _without(self, path, columns):
        """Write a table without some of its columns."""
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        places = [place for place, name in enumerate(head) if name not in columns]
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([row[place] for place in places] for row in (head, *rows))
        smaller = self.folder / f"{path.parent.name}-{path.name}"
        smaller.write_bytes(gzip.compress(out.getvalue().encode(), mtime=0))
        return smaller

    def finalize(self, *_) -> None:
        """Delete what was written."""
        shutil.rmtree(self.folder, ignore_errors=True)

"""Refit the tables from the logs: ``python -m schedlab.workload.standin CTC-SP2-1996 ...``."""

import sys

from .. import archive, swf
from . import fit, names, save

for name in map(archive.resolve, sys.argv[1:] or names()):
    path = archive.standin_table(name)
    save(fit(swf.cached_log(archive.fetch(name)), name), path)
    print(f"{path.name}: {path.stat().st_size:,} bytes")

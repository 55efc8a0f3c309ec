"""`python -m schedlab` is the command `schedlab`."""

import sys

from schedlab.cli import main

sys.exit(main())

"""schedlab: a research toolkit for parallel job scheduling."""

__version__ = "0.1.0"

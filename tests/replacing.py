"""What tests put in place of a paper's own names."""

import sys


def replaced(monkeypatch, paper, name, value):
    """Replace a name in every module of a paper that has it, since they import names from one another."""
    parts = [module for key, module in sys.modules.items() if f"{key}.".startswith(f"{paper.__name__}.")]
    homes = [module for module in parts if hasattr(module, name)]
    assert homes, f"{paper.__name__} has no {name}"
    for module in homes:
        monkeypatch.setattr(module, name, value)

"""What tests put in place of a paper's own names, and how they draw its figures."""

import sys


def replaced(monkeypatch, paper, **values):
    """Replace names in every module of a paper that has them, since they import names from one another."""
    parts = [module for key, module in sys.modules.items() if f"{key}.".startswith(f"{paper.__name__}.")]
    for name, value in values.items():
        homes = [module for module in parts if hasattr(module, name)]
        assert homes, f"{paper.__name__} has no {name}"
        for module in homes:
            monkeypatch.setattr(module, name, value)


def rebuild(function, size="quick"):
    """Rebuild a figure of a paper and draw it; return it."""
    figure = function(size, progress=False)
    assert figure.name == function.__name__.replace("_", "-")
    assert figure.title
    assert len(figure.data)
    if figure.chart is not None:
        figure.chart.to_dict()
    else:
        assert len(figure.table)
    return figure

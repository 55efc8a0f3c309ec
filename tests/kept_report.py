"""The report as it is drawn from what is kept: nothing is simulated."""

from functools import partial

from schedlab import papers
from schedlab.papers import kept
from schedlab.papers.names import paper_in
from schedlab.show import report


def write(path, monkeypatch, names=papers.PAPERS):
    """Write the report of some papers; return its path."""
    for paper in papers.modules(names):
        monkeypatch.setattr(paper, "FIGURES", [_from_kept(figure) for figure in paper.FIGURES])
        monkeypatch.setattr(paper, "claims", partial(_ledger, paper_in(paper.__name__)))
    return report.figures(path, progress=False, only=names, processes=1)


def _from_kept(figure):
    def drawn(size, progress):
        return figure.as_kept()

    vars(drawn).update(vars(figure))
    drawn.__name__, drawn.__doc__ = figure.__name__, figure.__doc__
    return drawn


def _ledger(name, size, progress):
    return kept.ledger_of(name)

"""Every parameter of the public functions and methods is described in a docstring."""

import inspect
import re

import pytest

import schedlab as sl

PARAMETERS = re.compile(r"^Parameters\n-{3,}\n([\s\S]*?)(?=^\S.*\n-{3,}$|\Z)", re.MULTILINE)


def public_names(room):
    return getattr(room, "__all__", [name for name in dir(room) if not name.startswith("_")])


def is_ours(thing):
    return (getattr(thing, "__module__", None) or "").startswith("schedlab")


def methods(cls, where):
    """Return the public methods, each with the docstrings of all classes that define it, its own first."""
    for name in dir(cls):
        homes = [vars(home)[name] for home in cls.__mro__ if is_ours(home) and name in vars(home)]
        homes = [getattr(home, "__func__", home) for home in homes]  # of class and static methods
        if homes and not name.startswith("_") and callable(homes[0]):
            yield f"{where}.{name}", homes[0], [home.__doc__ for home in homes]


def documented():
    """Return the name, the function and the docstrings of each public function and method, each once."""
    found = {}
    for where, room in [("sl", sl), *((f"sl.{name}", getattr(sl, name)) for name in sl._ROOMS)]:
        for name in public_names(room):
            thing, path = getattr(room, name), f"{where}.{name}"
            if not is_ours(thing):
                continue
            if inspect.isclass(thing):
                several = methods(thing, path)
            else:
                several = [(path, thing, [thing.__doc__])] if callable(thing) else []
            for path, function, texts in several:
                found.setdefault(function, (path, function, texts))
    return list(found.values())


def entries(text):
    """Return what the section "Parameters" of a docstring says of each name."""
    section = PARAMETERS.search(inspect.cleandoc(text or ""))
    told, words = {}, []
    for line in section[1].splitlines() if section else ():
        if line[:1].strip():  # names and their type; the indented text below applies to all of them
            words = []
            told |= {name.strip().lstrip("*"): words for name in line.partition(" : ")[0].split(",")}
        elif line.strip():
            words.append(line.strip())
    return told


def faults(path, function, texts):
    """Tell which parameters have no entry, which entries say nothing, and which name no parameter."""
    taken = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    told = {name: words for text in texts for name, words in entries(text).items()}
    missing = [f"{path}: parameter {name} has no entry" for name in taken if name not in told]
    silent = [f"{path}: the entry of {name} says nothing" for name in taken if told.get(name) == []]
    own = entries(texts[0])
    return missing + silent + [f"{path}: there is no parameter {name}" for name in own if name not in taken]


def test_each_parameter_is_documented():
    every = documented()
    walked = {path for path, _, _ in every}
    assert {"sl.simulate", "sl.Trace.head", "sl.EASY.simulate", "sl.charts.lines", "sl.papers.judged"} <= walked
    found = [fault for one in every for fault in faults(*one)]
    assert not found, "\n".join(found)


class Base:
    def run(self, trace):
        """Run.

        Parameters
        ----------
        trace : Trace
            What to run.
        """


class Scheme(Base):
    def run(self, trace, seed=0, *rest, **settings):
        """Run it, like the base class.

        Parameters
        ----------
        low, seed : int
            Where to begin: here.
        **settings

        Returns
        -------
        rest : int
        """


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            [Scheme.run.__doc__, Base.run.__doc__],
            ["parameter rest has no entry", "the entry of settings says nothing", "there is no parameter low"],
        ),
        ([Base.run.__doc__], [f"parameter {name} has no entry" for name in ("seed", "rest", "settings")]),
        ([None], [f"parameter {name} has no entry" for name in ("trace", "seed", "rest", "settings")]),
    ],
)
def test_what_is_missing_is_found(texts, expected):
    assert faults("run", Scheme.run, texts) == [f"run: {fault}" for fault in expected]


def test_a_method_takes_over_what_its_base_class_says(monkeypatch):
    monkeypatch.setattr("test_docs.is_ours", lambda thing: thing is not object)
    ((path, function, texts),) = methods(Scheme, "Scheme")
    assert (path, function, texts) == ("Scheme.run", Scheme.run, [Scheme.run.__doc__, Base.run.__doc__])


@pytest.mark.parametrize("verb", [sl.simulate, sl.load_trace, sl.read_swf, sl.grid, sl.steps, sl.compositions])
def test_help_on_the_main_verbs_opens_with_a_signature_of_three_lines(verb):
    assert len(str(inspect.signature(verb))) <= 3 * 100

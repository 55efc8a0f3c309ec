"""The commands and how their arguments are parsed. It loads nothing else, so that help is there at once."""

import argparse
from collections.abc import Sequence

from rich_argparse import RawDescriptionRichHelpFormatter, RichHelpFormatter

from schedlab import __version__
from schedlab._runtime.text import check_known, plain, suggestion

GROUPS = {
    "logs": {
        "traces": "list the archive's logs, and fetch some",
        "show": "show what is in a log, and what was left out or filled in",
        "sacct-command": "print the command that exports a cluster's jobs from Slurm",
    },
    "simulations": {
        "simulate": "simulate one log under one scheme",
        "compare": "simulate one log under several schemes, at one or more loads",
        "grid": "run the grid of a study, or a part of it, into a store",
        "conformance": "find out which conventions a simulator follows",
        "page": "write a page that simulates logs in any browser",
    },
    "papers": {
        "claims": "print published and measured values",
        "figures": "rebuild every figure in one page",
    },
    "this program": {
        "cache": "show what is kept on disk, and clear it",
        "compile": "compile all kernels now instead of at first use",
        "completion": "print a script that lets a shell complete commands and options",
    },
}
COMMANDS = {name: purpose for group in GROUPS.values() for name, purpose in group.items()}
EXAMPLES = (
    "Examples:\n  schedlab show my.swf.gz\n  schedlab compare lublin --scheme fcfs,easy --load 0.7,0.9\n\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."
)
WHOLE = "--help-all"


class _Help(RichHelpFormatter):
    """Help in colours, with titles as they are written."""

    group_name_formatter = str


class _HelpOfAll(RawDescriptionRichHelpFormatter, _Help):
    """Help whose lists keep their lines."""


class Parser(argparse.ArgumentParser):
    """A parser of one command, whose help is short: options beyond the `first` ones are in the whole help."""

    first = ()

    def __init__(self, *args, whole=False, **settings):
        super().__init__(*args, **{"formatter_class": _Help, **settings})
        self.whole = whole
        self.known = ["--help"]
        self.groups = {}

    def only_first(self, *names: str) -> None:
        """Let the short help have these options only."""
        self.first = names
        self.add_argument(WHOLE, action="help", help="show all options, in groups")

    def option(self, group: str, *names: str, either: str | None = None, **settings) -> None:
        """Add an option to a group of the whole help; of options with an equal `either`, one can be given."""
        self.known += names
        if not self.whole and self.first:
            if names[0] not in self.first:
                settings["help"] = argparse.SUPPRESS
            group = ""
        if group not in self.groups:
            self.groups[group] = self.add_argument_group(group) if group else self
        place = self.groups[group]
        if either is not None:
            if either not in self.groups:
                self.groups[either] = place.add_mutually_exclusive_group()
            place = self.groups[either]
        place.add_argument(*names, **settings)

    def _check_value(self, action, value):
        if action.choices is not None:  # as check_known, which suggests a name
            what = action.metavar if action.dest == argparse.SUPPRESS else action.dest
            try:
                check_known(what.lower().replace("_", " "), value, action.choices)
            except ValueError as error:
                raise argparse.ArgumentError(action, str(error)) from None

    def error(self, message):
        # One line instead of the usage of twenty options.
        self.exit(2, f"{self.prog}: {plain(message)} (see {self.prog} --help)\n")


def parser(names: Sequence[str] = (), whole: bool = False) -> Parser:
    """Return the parser of all commands, of which only those of some names have their options.

    What it parses has the name of the command, and its parser.
    """
    top = Parser(
        prog="schedlab",
        usage="schedlab COMMAND ...",
        description="Simulate parallel job schedulers on real logs, and rebuild published figures.",
        epilog=EXAMPLES,
        formatter_class=_HelpOfAll,
    )
    for title, commands in GROUPS.items():
        top.add_argument_group(title, "\n".join(f"{name:<15}{purpose}" for name, purpose in commands.items()))
    top.add_argument("--version", action="version", version=f"schedlab {__version__}")
    top.add_argument(WHOLE, action="help", help=argparse.SUPPRESS)
    listed = None if whole else argparse.SUPPRESS  # which the groups do
    parsers = top.add_subparsers(metavar="COMMAND", help=listed, dest="command", prog="schedlab")
    for name, purpose in COMMANDS.items():
        added = parsers.add_parser(name, help=purpose, whole=whole)
        if name in names:
            from .options import add  # which loads the package

            add(added, name)
    return top


def parse(arguments: Sequence[str]) -> argparse.Namespace | None:
    """Parse the arguments; None if there is no command, and help was printed."""
    command = next((argument for argument in arguments if not argument.startswith("-")), None)
    top = parser([command], whole=WHOLE in arguments)
    if not arguments:
        top.print_help()
        return None
    options, left = top.parse_known_args(arguments)
    chosen = getattr(options, "parser", top)
    if left:
        what = "option" if left[0].startswith("-") else "argument"
        chosen.error(f"unknown {what} {left[0]!r}{suggestion(left[0].partition('=')[0], chosen.known)}")
    if options.command is None:
        top.error("expected a command")
    return options

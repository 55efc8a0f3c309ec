"""Messages of the package as the command line says them: options in place of arguments."""

import re

# Options as functions call them, and as the command line does.
MACHINES = "machine={name: processors, ...}", "--machine NAME=PROCESSORS,..."
OPTIONS = "columns|machine|partition|lead|window|overrun|missing_estimate|time_zone|procs_of|arrival|cluster|states"
SWITCHES = r"(?:or_)?(standin|lenient|names|retry)=True"
IN_PYTHON = "list_traces() or "  # beside the command
COLUMN = r"(?<![\w-])([a-z]+)=\.\.\."  # of a table, named by its role


def in_shell(message: str) -> str:
    """Name options of the command line where an error or a warning names arguments of a function."""
    message = message.replace(*MACHINES).replace(IN_PYTHON, "")
    message = re.sub(rf"\b{SWITCHES}", r"--\1", message)
    message = re.sub(COLUMN, r"--columns \1=...", message)
    return re.sub(rf"(?<!-)\b({OPTIONS})=(?=([^\s;,.)])?)", _as_option, message)


def _as_option(match):
    name, value = match.groups()
    return f"--{name.replace('_', '-')}{' ' * (value is not None)}"

"""What a call that Python refuses should have been: one line with the way out."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from .text import spelt, suggestion

Function = TypeVar("Function", bound=Callable)


def guided(**ways: str) -> Callable[[Function], Function]:
    """Let a function answer a keyword that it does not take, or too many arguments, with the right call.

    Parameters
    ----------
    **ways : str
        By the keyword that a user may try, what to call instead, in which ``{}`` stands for the value; by ``call`` what
        a right call looks like.
    """

    def decorate(function):
        parameters = inspect.signature(function).parameters
        known = [name for name, parameter in parameters.items() if parameter.kind is not parameter.VAR_KEYWORD]
        further = ("machine", "overrun", "events") if len(known) < len(parameters) else ()  # conventions of `simulate`
        places = [name for name in known if parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY]

        @wraps(function)
        def call(*arguments, **settings):
            if len(arguments) > len(places):
                raise TypeError(f"{function.__name__}() takes {', '.join(places)}; call {ways['call']}")
            for name in settings.keys() - {*known, *further}:
                way = ways.get(name)
                instead = f": {way.format(spelt(settings[name]))}" if way else suggestion(name, (*known, *further))
                raise TypeError(f"{function.__name__}() takes no {name!r}{instead}")
            return function(*arguments, **settings)

        return call

    return decorate

"""Altair's copies of charts, and its check of them against Vega-Lite's schema, in a fraction of their time.

jsonschema looks for every error: in a choice between dozens of definitions it follows each to its end, and it checks
the parts of a chart again in everything that contains them. This check stops at the first error and remembers the
results for parts. If it finds an error, jsonschema has the last word and tells what it is.

Altair copies a part of a chart each time that it is placed in another. Nine of ten settings of a part are undefined.
"""

import json
from functools import cache

from altair.utils import schemapi
from jsonschema import ValidationError
from jsonschema.validators import extend, validator_for

checked_in_full = schemapi._get_errors_from_spec
copied_in_full = schemapi._deep_copy
specified_in_full = schemapi._todict
PLAIN = {schemapi.UndefinedType, type(None), bool, int, float, str}  # a copy shares these with its original
_known = {}  # (definition, part as JSON): whether it is valid


def work_quickly():
    """Let Altair copy and check in these ways from now on."""
    schemapi._deep_copy = copied
    schemapi._todict = specified
    schemapi._get_errors_from_spec = errors


def copied(part, by_ref):
    """Return a copy, except of what is under the names of `by_ref`; see `altair.utils.schemapi._deep_copy`."""
    if isinstance(part, schemapi.SchemaBase) and not getattr(part, "__deepcopy__", None):
        arguments = [copied(given, by_ref) for given in part._args]
        with schemapi.debug_mode(False):
            return type(part)(*arguments, **_items(part._kwds, by_ref))
    if isinstance(part, dict):
        return _items(part, by_ref)
    if isinstance(part, list):
        return [given if type(given) in PLAIN else copied(given, by_ref) for given in part]
    return copied_in_full(part, by_ref)


def _items(items, by_ref):
    return {
        name: given if type(given) in PLAIN or name in by_ref else copied(given, by_ref)
        for name, given in items.items()
    }


def specified(part, context, np_opt, pd_opt):
    """Return a part as Vega-Lite; see `altair.utils.schemapi._todict`, which takes 8 us to find that text is text."""
    return part if type(part) in PLAIN else specified_in_full(part, context, np_opt, pd_opt)


def errors(spec, schema, rootschema=None):
    """Return the errors that jsonschema finds; see `altair.utils.schemapi._get_errors_from_spec`."""
    return [] if is_valid(spec, schema, rootschema) else checked_in_full(spec, schema, rootschema)


def is_valid(spec, schema, rootschema=None) -> bool:
    """Tell whether a part of a chart conforms to its schema."""
    root = rootschema or schema
    draft = schemapi._get_json_schema_draft_url(root)
    registry = schemapi._get_referencing_registry(root, draft)
    given = schemapi._prepare_references_in_schema(schema)
    kind = _first_error(draft)
    return kind(given, registry=registry, format_checker=kind.FORMAT_CHECKER).is_valid(spec)


@cache
def _first_error(draft):
    """Return jsonschema's validator of a draft, with the handling of choices and definitions changed as above."""
    usual = validator_for({"$schema": draft})

    def any_of(validator, choices, instance, schema):
        if not any(validator.evolve(schema=choice).is_valid(instance) for choice in choices):
            yield ValidationError("is none of them")

    def ref(validator, name, instance, schema):
        try:
            key = name, json.dumps(instance)
        except TypeError:
            yield from usual.VALIDATORS["$ref"](validator, name, instance, schema)
            return
        if key not in _known:
            _known[key] = next(usual.VALIDATORS["$ref"](validator, name, instance, schema), None) is None
        if not _known[key]:
            yield ValidationError(f"is no {name}")

    return extend(usual, {"anyOf": any_of, "$ref": ref})

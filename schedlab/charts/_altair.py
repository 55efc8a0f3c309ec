"""Import Altair in less than half of its usual time; modules that draw import it from here.

Altair loads jsonschema, which loads every format checker that it finds; JupyterLab installs all of them. The checker
for internationalized web addresses builds its parser on import, which takes 0.8 of the 1.15 s of ``import altair``
(``python -X importtime``). No chart contains such an address, so that module is loaded at its first use.
"""

from typing import TYPE_CHECKING

from .._runtime.imports import deferred

if TYPE_CHECKING:
    import altair as alt

with deferred("rfc3987_syntax", "is_valid_syntax"):
    import altair as alt
    from altair.utils.schemapi import debug_mode

VEGA_LITE = alt.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]  # the version that the charts are written in

__all__ = ["VEGA_LITE", "alt", "converter", "debug_mode"]


def converter():
    """Return vl-convert, which draws charts into files and packs scripts. It has 84 MB; charts are shown without it."""
    try:
        import vl_convert
    except ModuleNotFoundError:
        install = "which comes with schedlab's extra: pip install 'schedlab[pictures]'"
        need = "files of charts, walls, reports and pages need vl-convert-python"
        raise ModuleNotFoundError(f"{need}, {install}", name="vl_convert") from None
    return vl_convert

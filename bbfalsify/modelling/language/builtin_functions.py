"""Names that every model knows: constants and types, and functions of UPPAAL that the engines lack.

The functions are defined in the modelling language (library.txt); a call inserts the definition into the model, unless
the model defines a function of that name itself.
"""

from __future__ import annotations

import math
import re
import sys
from fractions import Fraction
from pathlib import Path

from bbfalsify.modelling.language.scopes import Scope
from bbfalsify.modelling.language.typed_symbols import ConstantSymbol, Symbol, Type, TypeSymbol
from bbfalsify.modelling.network.expressions import Kind

LIBRARY: dict[str, str] = {
    re.match(r"double (\w+)", text).group(1): text  # type: ignore[union-attr]
    for text in re.split(r"\n(?=double )", Path(__file__).with_name("library.txt").read_text(encoding="utf-8").strip())
}
"""Name → definition."""


def language_scope() -> Scope:
    """The names that every model knows; its own declarations may hide them."""
    double = Type(Kind.DOUBLE)
    constants = {"M_PI": math.pi, "pi": math.pi, "M_E": math.e, "M_SQRT2": math.sqrt(2)}
    constants |= {"M_LN2": math.log(2), "M_LN10": math.log(10)}
    constants |= {"M_LOG2E": 1 / math.log(2), "M_LOG10E": 1 / math.log(10)}
    constants |= {"M_PI_2": math.pi / 2, "M_PI_4": math.pi / 4, "M_1_PI": 1 / math.pi, "M_2_PI": 2 / math.pi}
    constants |= {"M_SQRT1_2": math.sqrt(0.5), "M_2_SQRTPI": 2 / math.sqrt(math.pi)}
    constants |= {"DBL_MIN": sys.float_info.min, "DBL_MAX": sys.float_info.max}
    constants |= {"FLT_MIN": 2.0**-126, "FLT_MAX": 2.0**128 - 2.0**104}
    symbols: dict[str, Symbol] = {
        name: ConstantSymbol(name, double, (Fraction(value),)) for name, value in constants.items()
    }
    for bits in (8, 16, 32):
        half = 2 ** (bits - 1)
        limits = {f"INT{bits}_MIN": -half, f"INT{bits}_MAX": half - 1, f"UINT{bits}_MAX": 2 * half - 1}
        symbols |= {name: ConstantSymbol(name, Type(Kind.INT), (value,)) for name, value in limits.items()}
        types = {f"int{bits}_t": (-half, half - 1)} | ({f"uint{bits}_t": (0, 2 * half - 1)} if bits < 32 else {})
        symbols |= {name: TypeSymbol(name, Type(Kind.INT, *limits)) for name, limits in types.items()}
    return Scope(None, symbols)

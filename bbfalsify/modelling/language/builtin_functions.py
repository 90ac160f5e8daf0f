"""Names that every model knows: constants and types, and functions of UPPAAL that the engines lack.

The functions are defined in the modelling language; a call inserts the definition into the model, unless the model
defines a function of that name itself.
"""

from __future__ import annotations

import math
import re
import sys
from fractions import Fraction

from bbfalsify.modelling.language.scopes import Scope
from bbfalsify.modelling.language.symbols import ConstantSymbol, Symbol, Type, TypeSymbol
from bbfalsify.modelling.network.expressions import Kind

_TEXT = """
double fmin(double a, double b) { return a < b ? a : b; }
double fmax(double a, double b) { return a > b ? a : b; }
double fdim(double a, double b) { return a > b ? a - b : 0.0; }
double fma(double a, double b, double c) { return a * b + c; }
double hypot(double a, double b) { return sqrt(a * a + b * b); }
double cbrt(double a) { return a < 0 ? -pow(-a, 1.0 / 3) : pow(a, 1.0 / 3); }
double exp2(double a) { return pow(2, a); }
double expm1(double a) { return exp(a) - 1; }
double log2(double a) { return ln(a) / M_LN2; }
double log1p(double a) { return ln(1 + a); }
double sinh(double a) { return (exp(a) - exp(-a)) / 2; }
double cosh(double a) { return (exp(a) + exp(-a)) / 2; }
double tanh(double a) { return 1 - 2 / (exp(2 * a) + 1); }
double asinh(double a) { return a < 0 ? -ln(-a + sqrt(a * a + 1)) : ln(a + sqrt(a * a + 1)); }
double acosh(double a) { return ln(a + sqrt(a * a - 1)); }
double atanh(double a) { return ln((1 + a) / (1 - a)) / 2; }
double trunc(double a) { return a < 0 ? ceil(a) : floor(a); }
double round(double a) { return a < 0 ? ceil(a - 0.5) : floor(a + 0.5); }
double copysign(double a, double b) { return b < 0 ? -fabs(a) : fabs(a); }

double random_arcsine(double low, double high) {
  double s = sin(M_PI_2 * random(1));
  return low + (high - low) * s * s;
}
double random_weibull(double shape, double scale) { return scale * pow(-ln(1 - random(1)), 1 / shape); }
double random_tri(double low, double mode, double high) {
  double u = random(1);
  if (u * (high - low) < mode - low) return low + sqrt(u * (high - low) * (mode - low));
  return high - sqrt((1 - u) * (high - low) * (high - mode));
}
double random_poisson(double mean) {
  double left = random_exponential(1);
  int count = 0;
  while (left < mean) { left = left + random_exponential(1); count++; }
  return count;
}
"""

LIBRARY: dict[str, str] = {
    re.match(r"double (\w+)", text).group(1): text  # type: ignore[union-attr]
    for text in re.split(r"\n(?=double )", _TEXT.strip())
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

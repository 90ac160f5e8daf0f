"""Functions of UPPAAL that the engines lack, defined in the modelling language.

A call inserts the definition into the model, unless the model defines a function of that name itself.
"""

from __future__ import annotations

import re

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

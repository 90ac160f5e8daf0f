"""The running example with its closed forms, for tests of every room.

Profile: delay uniform on [3, 5), off with probability 3/4, on with 1/4; all clocks reset.  The heater starts cold and
off; it passes 75 degrees after s = 10 ln 4 time units of heating.  Four keys violate within 20 time units, and all of
them begin with the heater switched on at once:

    on on on off      violated in the fourth delay, then switched off
    on on on on       violated in the fourth delay, then on again
    on on on on off   violated in the fifth delay
    on on on on on    violated in the fifth delay (it often ends after the horizon: walks must not be cut there)
"""

import math

from bbfalsify.modelling import parse_profile

PROFILE = """
format_version: 1
name: heater_user
automata:
  User:
    declarations: "clock x;"
    initial: S
    locations:
      S: {invariant: "x <= 5"}
    edges:
      - {from: S, to: S, action: off, guard: "x >= 3", update: "x = 0"}
      - {from: S, to: S, action: on, guard: "x >= 4", update: "x = 0"}
inputs:
  heat: {actions: {on: 1, off: 0}, initial: 0}
"""


def profile():
    return parse_profile(PROFILE, file="heater_user.yaml")


def three_uniforms_exceed(s: float) -> float:
    """P(U1 + U2 + U3 > s) for independent uniforms on [0, 1]: the Irwin–Hall tail."""
    return 1 - sum((-1) ** k * math.comb(3, k) * max(0.0, s - k) ** 3 for k in range(4)) / 6


HEATING = 10 * math.log(4)
FOURTH_ON = three_uniforms_exceed(HEATING - 12)
"""Given on on on on, the delays are uniform on [4, 5): probability that the fourth one already violates."""
FOURTH_OFF = FOURTH_ON / 3 + three_uniforms_exceed(HEATING - 11) * 2 / 3
"""Given on on on off, the last delay is uniform on [3, 4) with probability 2/3, else on [4, 5)."""

EXACT = {
    ("on", "on", "on", "off"): 3 / 256 * FOURTH_OFF,
    ("on", "on", "on", "on"): 1 / 256 * FOURTH_ON,
    ("on", "on", "on", "on", "off"): 1 / 256 * (1 - FOURTH_ON) * 3 / 4,
    ("on", "on", "on", "on", "on"): 1 / 256 * (1 - FOURTH_ON) * 1 / 4,
}

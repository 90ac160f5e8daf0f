"""Random numbers of the kernel: xoshiro256++ seeded by splitmix64, on uint64 words.

One 64-bit seed per walk fixes all its draws.  The generator is written out, so that compiled code and plain Python draw
the same numbers on every machine.  (Blackman and Vigna, "Scrambled linear pseudorandom number generators".)
"""

from __future__ import annotations

import math

import numpy as np

from bbfalsify.kernel.numba_types import compiled, entry_point, inlined

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U11, _U17, _U19, _U23 = np.uint64(11), np.uint64(17), np.uint64(19), np.uint64(23)
_U27, _U30, _U31, _U41, _U45 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(41), np.uint64(45)
_TO_UNIT = 2.0**-53


@inlined
def seed_stream(R, seed):
    """Fill the four words of a stream from one seed."""
    z = seed
    for i in range(4):
        z = z + _GOLDEN
        w = z
        w = (w ^ (w >> _U30)) * _MIX_1
        w = (w ^ (w >> _U27)) * _MIX_2
        R[i] = w ^ (w >> _U31)


@entry_point
def seed_streams(R, seeds, states_rng):
    """Fill one stream per seed, a row of four words each."""
    for row in range(len(seeds)):
        seed_stream(R, seeds[row])
        for i in range(4):
            states_rng[row, i] = R[i]


@inlined
def unit(R):
    """Draw a number uniformly from [0, 1)."""
    s0 = R[0]
    s1 = R[1]
    s2 = R[2]
    s3 = R[3]
    total = s0 + s3
    result = ((total << _U23) | (total >> _U41)) + s0
    shifted = s1 << _U17
    s2 = s2 ^ s0
    s3 = s3 ^ s1
    s1 = s1 ^ s2
    s0 = s0 ^ s3
    s2 = s2 ^ shifted
    s3 = (s3 << _U45) | (s3 >> _U19)
    R[0] = s0
    R[1] = s1
    R[2] = s2
    R[3] = s3
    return float(result >> _U11) * _TO_UNIT


@compiled
def normal(R):
    """Draw a standard normal number (Box–Muller, without the second of the pair, so that there is no hidden state)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - unit(R)))
    return radius * math.cos(2.0 * math.pi * unit(R))

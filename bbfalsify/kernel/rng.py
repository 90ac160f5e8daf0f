"""Random numbers of the kernel: xoshiro256++ seeded by splitmix64, on uint64 words.

One 64-bit seed per walk fixes all its draws.  The generator is written out, so that compiled code and plain Python draw
the same numbers on every machine.  (Blackman and Vigna, "Scrambled linear pseudorandom number generators".)

An R longer than the four words of the stream has a tape behind them: the numbers drawn are recorded there with their
labels, and the first ones may be given from outside.  The stream goes on all the same, so that number i depends on the
seed and i only, and a walk without given numbers is the walk of the seed.

    0…3                      the stream
    4, 5, 6, 7, 8            numbers drawn, numbers given, label of the next number, room of the tape, place of tilts
    9 …                      numbers, 53 bits each
    9 + room …               their labels: kind + 8 · subject

Tilts (importance sampling; `tilts.py` fills them in) replace the uniform law of numbers that are not given by a
histogram.  A number's row is chosen by its label and by how many numbers with this label came before it in the walk.

    place + 0, 1, 2          labels known, bins of a histogram, rows for each class of labels
    place + 3 …              class of each label, 0: not tilted
    then                     per class: numbers drawn in this walk
    then                     per row: shares up to each bin, 53 bits each, from 0 on; then the ends of the bins
    then                     per row: how often this walk fell into each bin
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
_ONE = np.uint64(1)

STREAM = 4
TAPE_NEXT, TAPE_GIVEN, TAPE_LABEL, TAPE_ROOM, TAPE_TILTS, TAPE = 4, 5, 6, 7, 8, 9
DRAWN_DELAY, DRAWN_TIE, DRAWN_EDGE, DRAWN_BRANCH, DRAWN_VALUE, DRAWN_INITIAL = 1, 2, 3, 4, 5, 6
"""Kinds of labels; the subject is a process, or for values the place of a branch in the tables."""


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
def begin_tape(R):
    """Rewind the tape, if there is one."""
    if len(R) > STREAM:
        R[TAPE_NEXT] = 0
        R[TAPE_LABEL] = 0
        if R[TAPE_TILTS] > 0:
            forget_tilted(R)


@compiled
def forget_tilted(R):
    """Begin to count the numbers of a walk again."""
    place = np.int64(R[TAPE_TILTS])
    labels, bins, rows = np.int64(R[place]), np.int64(R[place + 1]), np.int64(R[place + 2])
    first = place + 3 + labels
    classes = (len(R) - first) // (1 + rows * (3 * bins + 2))
    for i in range(first, first + classes):
        R[i] = 0
    for i in range(len(R) - classes * rows * bins, len(R)):
        R[i] = 0


@compiled
def tilted(R, number):
    """Move a number of the uniform law to that of its histogram, and count its bin."""
    place = np.int64(R[TAPE_TILTS])
    label = np.int64(R[TAPE_LABEL])
    labels, bins, rows = np.int64(R[place]), np.int64(R[place + 1]), np.int64(R[place + 2])
    if label >= labels or R[place + 3 + label] == 0:
        return number
    kind = np.int64(R[place + 3 + label]) - 1
    first = place + 3 + labels
    classes = (len(R) - first) // (1 + rows * (3 * bins + 2))
    row = kind * rows + min(np.int64(R[first + kind]), rows - 1)
    R[first + kind] += _ONE
    shares = first + classes + row * 2 * (bins + 1)
    k = 0
    while k < bins - 1 and R[shares + k + 1] <= number:
        k += 1
    R[first + classes + classes * rows * 2 * (bins + 1) + row * bins + k] += _ONE
    before, ends = R[shares + k], shares + bins + 1 + k
    inside = float(number - before) / float(R[shares + k + 1] - before)
    return R[ends] + np.uint64(inside * float(R[ends + 1] - R[ends]))


@inlined
def label_draws(R, kind, subject):
    """Label the numbers that are drawn from now on."""
    if len(R) > STREAM:
        R[TAPE_LABEL] = kind + 8 * subject


@compiled
def taped(R, number):
    """Return the number given for this draw, or the one drawn; record it."""
    i = int(R[TAPE_NEXT])
    room = int(R[TAPE_ROOM])
    R[TAPE_NEXT] = i + 1
    if i < int(R[TAPE_GIVEN]):
        number = R[TAPE + i]
    elif R[TAPE_TILTS] > 0:
        number = tilted(R, number)
    if i < room:
        R[TAPE + i] = number
        R[TAPE + room + i] = R[TAPE_LABEL]
    return number


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
    number = result >> _U11
    if len(R) > STREAM:
        number = taped(R, number)
    return float(number) * _TO_UNIT


@compiled
def normal(R):
    """Draw a standard normal number (Box–Muller, without the second of the pair, so that there is no hidden state)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - unit(R)))
    return radius * math.cos(2.0 * math.pi * unit(R))

"""Operation codes of the interpreter (`bytecode`); only constants, so that compilers need not load numba."""

from __future__ import annotations

# Operation codes; in brackets the words that follow.  i: integer stack, r: real stack.
(
    HALT,
    PUSH_I,  # [value]
    PUSH_LONG,  # [high word, low word]
    LOAD_I,  # [slot]
    LOAD_I_AT,  # [slot, size, site]            index from i
    LOCAL_I,  # [frame slot]
    LOCAL_I_AT,  # [frame slot, size, site]
    NEGATE_I,
    NOT,
    INVERT,
    ADD_I,
    SUBTRACT_I,
    MULTIPLY_I,
    DIVIDE_I,  # [site]
    MODULO_I,  # [site]
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    COMPARE_I,  # [operator]
    MINIMUM_I,
    MAXIMUM_I,
    ABSOLUTE_I,
    TRUTH,
    TO_REAL,
    PUSH_R,  # [constant]
    LOAD_R,  # [slot]
    LOAD_R_AT,  # [slot, size, site]
    LOCAL_R,
    LOCAL_R_AT,
    NEGATE_R,
    ADD_R,
    SUBTRACT_R,
    MULTIPLY_R,
    DIVIDE_R,  # [site]
    COMPARE_R,  # [operator]
    MINIMUM_R,
    MAXIMUM_R,
    ABSOLUTE_R,
    MATH,  # [function, site]
    TO_INTEGER,  # [site]
    TO_TRUTH,  # real to Boolean
    RANDOM,  # [draw]
    AT_LOCATION,  # [process, global location]
    JUMP,  # [address]
    JUMP_ZERO,  # [address]
    LOOP,  # [address, site]   backward jump
    CALL,  # [function, integer arguments, real arguments, kinds (bit mask: 1 = real), site]
    RETURN,
    STORE_I,  # [slot, low, high, site]
    STORE_I_AT,  # [slot, size, low, high, site]   index below value
    STORE_LOCAL_I,  # [frame slot, low, high, site]
    STORE_LOCAL_I_AT,  # [frame slot, size, low, high, site]
    STORE_R,  # [slot]
    STORE_R_AT,  # [slot, size, site]
    STORE_LOCAL_R,
    STORE_LOCAL_R_AT,
    DROP_I,
    DROP_R,
    ENTER,  # [native function or −1, its operands, whether it may run in every mode]   only at the begin of a code
) = range(61)
ENTER_SIZE = 4

(MATH_SQRT, MATH_EXP, MATH_LN, MATH_LOG, MATH_SIN, MATH_COS, MATH_TAN, MATH_ASIN, MATH_ACOS, MATH_ATAN, MATH_FLOOR,
 MATH_CEIL, MATH_ATAN2, MATH_POW, MATH_FMOD) = range(15)  # fmt: skip
FIRST_BINARY_MATH = MATH_ATAN2
(DRAW_RANDOM, DRAW_UNIFORM, DRAW_NORMAL, DRAW_EXPONENTIAL) = range(4)

"""The interpreter of guards, updates and functions: a stack machine over integers and *affine* reals.

A real on the stack is `p + q·(t − s)`, three numbers.  While time passes at constant rates every clock is one, so one
run of a guard gives its truth at a moment t (MODE_AT) or just after it (MODE_AFTER) together with the next moment at
which some evaluated comparison flips (X_BREAKPOINT): the truth is constant until then.  Sweeping from breakpoint to
breakpoint gives the exact set of delays of any guard, with &&, ||, !=, conditionals, functions and loops.

A clock keeps the moment `s` of its last reset, and a comparison is decided on the time scale: `x >= 3` flips at
s + 3, whatever "now" is, so equal bounds of an invariant and a guard stay equal and no sum of delays is ever formed.

Updates run in MODE_FROZEN (reals are plain numbers at "now"); MODE_NUMERIC reads reals from a vector of values, for
ODEs and for expressions that are not affine in the delay.
"""

from __future__ import annotations

from bbfalsify.kernel.arithmetic import (
    affine_add,
    affine_multiply,
    affine_order,
    compared,
    copy_real,
    drawn,
    fail,
    integer_arithmetic,
    mathematics,
    plain_real,
)
from bbfalsify.kernel.layout import *
from bbfalsify.kernel.native_call import call_native
from bbfalsify.kernel.numba_types import compiled, inlined
from bbfalsify.kernel.opcodes import *


@inlined
def is_outside(T, S, pc, index):
    """Tell whether an index is none of the array that the instruction reads, which is an error."""
    if index < 0 or index >= T[pc + 2]:
        fail(S, ERROR_INDEX, T[pc + 3], index)
        return True
    return False


@compiled
def execute(T, F, S, X, R, start, mode, t):
    """Run the code at `start`; the result is the top of the integer stack (returned) or of the real stack.

    A real result is left at X[T[H_X_STACK]].  Errors are left in S[S_ERROR]; the result is then meaningless.
    """
    if T[start] == ENTER:
        if T[start + 1] >= 0 and S[S_NATIVE] != 0 and S[S_ERROR] == 0 and (mode == MODE_FROZEN or T[start + 3] != 0):
            S[S_LOOPS] = 0
            return call_native(S[S_NATIVE], T, F, S, X, R, start, mode)
        start += ENTER_SIZE
    si = T[H_S_STACK]  # one past the top of the integer stack
    sr = T[H_X_STACK]  # likewise for reals, three words each
    stack_end = T[H_S_STACK] + STACK_SIZE - 8
    frame = 0
    frame_end = TOP_FRAME
    depth = 0
    loops = 0
    ints = S[S_INTEGER_BASE]
    locs = S[S_LOCATION_BASE]
    clocks = S[S_CLOCK_BASE]
    call_stack = T[H_S_STACK] + STACK_SIZE
    local_i = T[H_S_FRAME]
    local_r = T[H_X_FRAME]
    now = X[X_NOW]
    pc = start
    while True:
        op = T[pc]
        if op < ADD_I:
            if op == HALT:
                return S[si - 1]
            if op == PUSH_I:
                S[si] = T[pc + 1]
                si += 1
                pc += 2
            elif op == LOAD_I:
                S[si] = S[ints + T[pc + 1]]
                si += 1
                pc += 2
            elif op == LOAD_I_AT:
                index = S[si - 1]
                if is_outside(T, S, pc, index):
                    return 0
                S[si - 1] = S[ints + T[pc + 1] + index]
                pc += 4
            elif op == LOCAL_I:
                S[si] = S[local_i + frame + T[pc + 1]]
                si += 1
                pc += 2
            elif op == LOCAL_I_AT:
                index = S[si - 1]
                if is_outside(T, S, pc, index):
                    return 0
                S[si - 1] = S[local_i + frame + T[pc + 1] + index]
                pc += 4
            elif op == PUSH_LONG:
                S[si] = (int(T[pc + 1]) << 31) + T[pc + 2]
                si += 1
                pc += 3
            elif op == NEGATE_I:
                S[si - 1] = -S[si - 1]
                pc += 1
            elif op == NOT:
                S[si - 1] = 1 if S[si - 1] == 0 else 0
                pc += 1
            else:  # INVERT
                S[si - 1] = ~S[si - 1]
                pc += 1
        elif op < TO_REAL:
            if op == TRUTH:
                S[si - 1] = 1 if S[si - 1] != 0 else 0
                pc += 1
            elif op == ABSOLUTE_I:
                S[si - 1] = abs(S[si - 1])
                pc += 1
            else:
                b = S[si - 1]
                si -= 1
                a = S[si - 1]
                if op == COMPARE_I:
                    S[si - 1] = compared(T[pc + 1], -1 if a < b else (1 if a > b else 0))
                    pc += 2
                elif op == DIVIDE_I or op == MODULO_I:
                    if b == 0:
                        fail(S, ERROR_DIVISION, T[pc + 1], 0)
                        return 0
                    quotient = abs(a) // abs(b)
                    if (a < 0) != (b < 0):
                        quotient = -quotient
                    S[si - 1] = quotient if op == DIVIDE_I else a - b * quotient
                    pc += 2
                else:
                    S[si - 1] = integer_arithmetic(op, a, b)
                    pc += 1
        elif op < RANDOM:
            if op == LOAD_R or op == LOAD_R_AT:
                if op == LOAD_R:
                    slot = int(T[pc + 1])
                    pc += 2
                else:
                    si -= 1
                    index = S[si]
                    if is_outside(T, S, pc, index):
                        return 0
                    slot = T[pc + 1] + index
                    pc += 4
                clock = clocks + 3 * slot
                if mode == MODE_NUMERIC:
                    plain_real(X, sr, X[T[H_X_VALUES] + slot])
                elif X[clock + 2] == 0.0:
                    plain_real(X, sr, X[clock])
                elif mode == MODE_FROZEN:
                    plain_real(X, sr, X[clock] + X[clock + 2] * (now - X[clock + 1]))
                else:
                    X[sr] = X[clock]
                    X[sr + 1] = X[clock + 2]
                    X[sr + 2] = X[clock + 1]
                sr += 3
            elif op == PUSH_R:
                plain_real(X, sr, F[T[pc + 1]])
                sr += 3
                pc += 2
            elif op == COMPARE_R:
                sr -= 6
                if X[sr] != X[sr] or X[sr + 3] != X[sr + 3]:
                    S[S_TAINT] = 1
                S[si] = compared(T[pc + 1], affine_order(X, sr, mode, t))
                si += 1
                pc += 2
            elif op == ADD_R:
                sr -= 3
                affine_add(X, sr - 3, 1.0)
                pc += 1
            elif op == SUBTRACT_R:
                sr -= 3
                affine_add(X, sr - 3, -1.0)
                pc += 1
            elif op == MULTIPLY_R:
                sr -= 3
                if X[sr + 1] != 0.0 and X[sr - 2] != 0.0:
                    fail(S, ERROR_AFFINE, -1, 0)
                    return 0
                affine_multiply(X, sr - 3)
                pc += 1
            elif op == DIVIDE_R:
                sr -= 3
                divisor = X[sr]
                if X[sr + 1] != 0.0:
                    fail(S, ERROR_AFFINE, -1, 0)
                    return 0
                if divisor == 0.0:
                    fail(S, ERROR_DIVISION, T[pc + 1], 0)
                    return 0
                X[sr - 3] = X[sr - 3] / divisor
                X[sr - 2] = X[sr - 2] / divisor
                pc += 2
            elif op == TO_REAL:
                si -= 1
                plain_real(X, sr, float(S[si]))
                sr += 3
                pc += 1
            elif op == NEGATE_R:
                X[sr - 3] = -X[sr - 3]
                X[sr - 2] = -X[sr - 2]
                pc += 1
            elif op == MINIMUM_R or op == MAXIMUM_R:
                sr -= 3
                order = affine_order(X, sr - 3, mode, t)
                if (order > 0) if op == MINIMUM_R else (order < 0):
                    copy_real(X, sr - 3, sr)
                pc += 1
            elif op == ABSOLUTE_R:
                plain_real(X, sr, 0.0)
                if affine_order(X, sr - 3, mode, t) < 0:
                    X[sr - 3] = -X[sr - 3]
                    X[sr - 2] = -X[sr - 2]
                pc += 1
            elif op == MATH:
                function = T[pc + 1]
                if function >= FIRST_BINARY_MATH:
                    sr -= 3
                else:
                    X[sr] = 0.0
                    X[sr + 1] = 0.0
                if X[sr - 2] != 0.0 or X[sr + 1] != 0.0:
                    fail(S, ERROR_AFFINE, -1, 0)
                    return 0
                argument = X[sr - 3]
                X[sr - 3] = mathematics(function, argument, X[sr])
                if X[sr - 3] != X[sr - 3] and argument == argument and X[sr] == X[sr]:
                    fail(S, ERROR_DOMAIN, T[pc + 2], 0)
                    return 0
                pc += 3
            elif op == TO_INTEGER:
                sr -= 3
                if X[sr + 1] != 0.0:
                    fail(S, ERROR_AFFINE, -1, 0)
                    return 0
                if X[sr] != X[sr]:
                    S[S_TAINT] = 1
                    S[si] = 0
                elif abs(X[sr]) >= 9.2e18:
                    fail(S, ERROR_DOMAIN, T[pc + 1], 0)
                    return 0
                else:
                    S[si] = int(X[sr])
                si += 1
                pc += 2
            elif op == TO_TRUTH:
                plain_real(X, sr, 0.0)
                sr -= 3
                S[si] = 0 if affine_order(X, sr, mode, t) == 0 else 1
                si += 1
                pc += 1
            elif op == LOCAL_R:
                source = local_r + 3 * (frame + T[pc + 1])
                copy_real(X, sr, source)
                sr += 3
                pc += 2
            else:  # LOCAL_R_AT
                si -= 1
                index = S[si]
                if is_outside(T, S, pc, index):
                    return 0
                source = local_r + 3 * (frame + T[pc + 1] + index)
                copy_real(X, sr, source)
                sr += 3
                pc += 4
        elif op < STORE_I:
            if op == JUMP_ZERO:
                si -= 1
                if S[si] == 0:
                    pc = int(T[pc + 1])
                else:
                    pc += 2
            elif op == JUMP:
                pc = int(T[pc + 1])
            elif op == LOOP:
                loops += 1
                if loops > LOOP_LIMIT:
                    fail(S, ERROR_LOOP, T[pc + 2], LOOP_LIMIT)
                    return 0
                pc = int(T[pc + 1])
            elif op == AT_LOCATION:
                S[si] = 1 if S[locs + T[pc + 1]] == T[pc + 2] else 0
                si += 1
                pc += 3
            elif op == RETURN:
                if depth == 0:
                    return 0
                depth -= 1
                frame_end = frame
                pc = int(S[call_stack + 2 * depth])
                frame = S[call_stack + 2 * depth + 1]
            elif op == CALL:
                callee = T[H_FUNCTION_TABLE] + FUNCTION_WIDTH * T[pc + 1]
                size = T[callee + FUNCTION_FRAME]
                if depth >= CALL_DEPTH or frame_end + size > FRAME_SIZE or si > stack_end:
                    fail(S, ERROR_CALLS, T[pc + 5], depth)
                    return 0
                new = frame_end
                for i in range(size):
                    S[local_i + new + i] = 0
                    plain_real(X, local_r + 3 * (new + i), 0.0)
                kinds = T[pc + 4]
                for i in range(T[pc + 2] - 1, -1, -1):
                    if (kinds >> i) & 1:
                        sr -= 3
                        copy_real(X, local_r + 3 * (new + i), sr)
                    else:
                        si -= 1
                        S[local_i + new + i] = S[si]
                S[call_stack + 2 * depth] = pc + 6
                S[call_stack + 2 * depth + 1] = frame
                depth += 1
                frame = new
                frame_end = new + size
                pc = int(T[callee + FUNCTION_START])
            else:  # RANDOM
                draw = T[pc + 1]
                if draw == DRAW_UNIFORM or draw == DRAW_NORMAL:
                    sr -= 3
                X[sr - 3] = drawn(X, R, draw, mode, sr - 3)
                X[sr - 2] = 0.0
                pc += 2
        elif op < STORE_R:
            si -= 1
            value_i = S[si]
            if op == STORE_I or op == STORE_LOCAL_I:
                slot = int(T[pc + 1])
                low = T[pc + 2]
                high = T[pc + 3]
                site = T[pc + 4]
                pc += 5
            else:
                si -= 1
                index = S[si]
                site = T[pc + 5]
                if index < 0 or index >= T[pc + 2]:
                    fail(S, ERROR_INDEX, site, index)
                    return 0
                slot = T[pc + 1] + index
                low = T[pc + 3]
                high = T[pc + 4]
                pc += 6
            if low <= high and (value_i < low or value_i > high):
                fail(S, ERROR_RANGE, site, value_i)
                return 0
            if op == STORE_I or op == STORE_I_AT:
                S[ints + slot] = value_i
            else:
                S[local_i + frame + slot] = value_i
        elif op == DROP_I:
            si -= 1
            pc += 1
        elif op == DROP_R:
            sr -= 3
            pc += 1
        else:
            sr -= 3
            slot = int(T[pc + 1])
            if op == STORE_R_AT or op == STORE_LOCAL_R_AT:
                si -= 1
                index = S[si]
                if is_outside(T, S, pc, index):
                    return 0
                slot += index
                pc += 4
            else:
                pc += 2
            if op == STORE_LOCAL_R or op == STORE_LOCAL_R_AT:
                target = local_r + 3 * (frame + slot)
                copy_real(X, target, sr)
            elif mode == MODE_NUMERIC:
                X[T[H_X_VALUES] + slot] = X[sr]
            else:
                target = clocks + 3 * slot
                X[target] = X[sr]
                if mode == MODE_FROZEN:
                    X[target + 1] = now
                else:
                    X[target + 1] = X[sr + 2]
                    X[target + 2] = X[sr + 1]

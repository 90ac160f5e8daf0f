"""Call machine code by its address, from compiled code."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _call_native(typingctx, address, T, F, S, X, R, start, mode):
    """Call `int64 f(T, F, S, X, R, start, mode)` at an address; it is given the data of the arrays."""
    signature = types.int64(types.int64, T, F, S, X, R, types.int64, types.int64)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        data = [
            context.make_array(array)(context, builder, value).data
            for array, value in zip(signature.args[1:6], arguments[1:6], strict=True)
        ]
        function = ir.FunctionType(word, [*(pointer.type for pointer in data), word, word])
        return builder.call(builder.inttoptr(arguments[0], function.as_pointer()), [*data, *arguments[6:]])

    return signature, codegen


call_native: Any = intrinsic(_call_native)  # type checkers do not know that numba drops the first argument

"""Compile further expressions over a model that is packed already: queries, costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bbfalsify.kernel.expression_compiler import Compiler
from bbfalsify.kernel.model_tables import CompiledModel
from bbfalsify.modelling.network.expressions import Expression


def with_code(
    model: CompiledModel, expressions: Sequence[tuple[Expression, str]], *, number: bool
) -> tuple[CompiledModel, list[int]]:
    """Append the code of some expressions (with their names in errors) to a model; return it with their places."""
    compiler = Compiler(model.network, first_address=len(model.T))
    compiler.constants, compiler.sites = list(model.F), list(model.sites)
    make = compiler.number if number else compiler.condition
    places = [make(expression, what) for expression, what in expressions]
    table = np.concatenate([model.T, np.array(compiler.code, np.int32)])
    return (replace(model, T=table, F=np.array(compiler.constants or [0.0]), sites=tuple(compiler.sites)), places)

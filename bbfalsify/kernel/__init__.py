"""Compiled semantics of networks: delay windows, walks, races (importing this imports numba).

model = compile_network(network)
walks = accelerated_walks(model, seeds, distribution=10, until=20.0, max_steps=1000)
"""

from bbfalsify.kernel.choice_spans import ChosenStep, spans_of, step_towards
from bbfalsify.kernel.compiled_model import CompiledModel
from bbfalsify.kernel.likelihood_scores import Scores, score_walks
from bbfalsify.kernel.model_tables import compile_network
from bbfalsify.kernel.particles import (
    Particles,
    StepResult,
    conditional_step,
    edge_probability,
    step_probability,
    stochastic_step,
    supports_conditional,
)
from bbfalsify.kernel.retracing import walk_numbers
from bbfalsify.kernel.walk_results import Walk, Walks, WalkStatus
from bbfalsify.kernel.walk_sampling import Sampler, sample_expressions
from bbfalsify.kernel.walks import (
    DELAY_DISTRIBUTIONS,
    accelerated_walks,
    count_steps,
    stochastic_walks,
    taped_walk,
    taped_walks,
    tilted_walks,
)

__all__ = [
    "DELAY_DISTRIBUTIONS",
    "ChosenStep",
    "CompiledModel",
    "Particles",
    "Scores",
    "Sampler",
    "StepResult",
    "Walk",
    "WalkStatus",
    "Walks",
    "accelerated_walks",
    "compile_network",
    "conditional_step",
    "count_steps",
    "edge_probability",
    "sample_expressions",
    "score_walks",
    "spans_of",
    "step_probability",
    "step_towards",
    "stochastic_step",
    "stochastic_walks",
    "supports_conditional",
    "taped_walk",
    "taped_walks",
    "tilted_walks",
    "walk_numbers",
]

"""Requirements as users write them: `stl`, `ltl`, and `queries` about the states of a model."""

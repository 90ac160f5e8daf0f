"""The internal form of a model: networks of automata, their expressions, and functions on them."""

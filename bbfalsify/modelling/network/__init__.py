"""The internal form of a model: networks of automata, their expressions, and functions that look at them."""

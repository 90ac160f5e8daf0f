"""Estimate probabilities and expectations of models and closed loops."""

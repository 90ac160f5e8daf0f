"""Plots and graphs as SVG, without a plotting library."""

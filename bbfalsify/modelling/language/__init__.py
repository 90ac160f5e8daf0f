"""The modelling language: text to syntax tree, syntax tree to network."""

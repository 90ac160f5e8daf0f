"""Ways into the language: YAML files, UPPAAL files, a builder in Python."""

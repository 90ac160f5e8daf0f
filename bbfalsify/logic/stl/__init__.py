"""Signal temporal logic: formulas, their parser and the compiled monitors."""

"""Results for other tools: JUnit, SARIF, annotations, tables, regression tests."""

"""The command line: the only room that prints.  One file per command; `main` puts them together."""

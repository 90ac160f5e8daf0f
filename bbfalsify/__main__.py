"""`python -m bbfalsify` is the command `bbfalsify`."""

from bbfalsify.cli.main import main

main()

"""One black box check from beginning to end.  Start reading at `check.py`."""

"""One search for states from beginning to end.  Start reading at `reach_run.py`."""

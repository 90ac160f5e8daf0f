"""One falsification from beginning to end.  Start reading at `falsify.py`."""

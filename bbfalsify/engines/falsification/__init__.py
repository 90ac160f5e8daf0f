"""Usage-aware falsification (Kiviriga, Paper D).  Start reading at `engine.py`."""

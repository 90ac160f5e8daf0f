"""The reference interpreter: slow, exact, sharing no code with the kernel.  Start reading at `interpreter.py`."""

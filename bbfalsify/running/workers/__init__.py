"""Execution of queries: worker processes, this process, or an executor of `concurrent.futures`."""

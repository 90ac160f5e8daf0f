"""Where queries are executed: worker processes, this process, or an executor of `concurrent.futures`."""

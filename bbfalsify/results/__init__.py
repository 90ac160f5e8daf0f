"""What a run concludes: objects for Python, `results.json` for everyone else."""

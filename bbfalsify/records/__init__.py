"""Files on disk: run directories, event logs, recorded answers, stores; YAML and JSON that are read with care."""

"""Programs as black boxes: one process per simulation, or one that stays alive."""

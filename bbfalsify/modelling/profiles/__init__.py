"""Networks that meet a system: profiles that drive its inputs, models that are played as a system."""

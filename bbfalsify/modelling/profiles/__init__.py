"""Networks connected to a system: profiles that drive its inputs, and models simulated as a system."""

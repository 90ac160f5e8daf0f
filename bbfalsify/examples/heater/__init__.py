"""The heater of the quick start: a system, a profile of its user and a campaign."""

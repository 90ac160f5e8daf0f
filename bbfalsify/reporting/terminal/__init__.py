"""Results as a terminal shows them."""

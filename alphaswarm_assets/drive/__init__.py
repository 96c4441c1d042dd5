"""What to materialise next, and whether what is there is current. Everything else obeys."""

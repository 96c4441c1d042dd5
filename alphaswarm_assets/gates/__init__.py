"""Evidence in, verdict out: pure, and never an exception to say no."""

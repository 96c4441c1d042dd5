"""Compute kernels, standing alone: this package imports nothing else of AlphaSwarm."""

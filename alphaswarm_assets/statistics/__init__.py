"""Estimators and tests: arrays in, numbers out, and a reason where there is no number."""

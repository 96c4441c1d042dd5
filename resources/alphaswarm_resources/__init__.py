"""Adapters: one module for each outside system, each implementing a port of ``alphaswarm_assets.ports``."""

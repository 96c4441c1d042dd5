"""WHAT is to be made: frozen descriptions, their identity and their registry. Nothing is computed here."""

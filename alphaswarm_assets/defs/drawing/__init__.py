"""How the pictures are drawn: one canvas, and a module for each kind."""

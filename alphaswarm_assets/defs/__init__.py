"""The Dagster graph, thin: each stage holds its assets and the checks that show what they found."""

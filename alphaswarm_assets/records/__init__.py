"""What was made, provably: canonical JSON and digests, manifests, hash-chained append-only ledgers."""

"""What operators need: policy files, proofs of isolation, and what they explain."""

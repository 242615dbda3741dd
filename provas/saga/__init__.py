"""The six proofs of the order's saga (Cesta), one file each."""

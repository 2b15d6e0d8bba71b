"""What searches spend their time in, for asv: one number a kernel and commit."""

"""Models on the CPU: text in, vectors and probabilities out. Knows nothing of SQL or of files."""

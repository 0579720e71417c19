"""From the bytes of a file to a document. Knows nothing of SQL."""

"""Words and sentences: what the index, the query and the answer are made of."""

"""Stage 6: from passages to an answer with citations, or to an honest "not found"."""

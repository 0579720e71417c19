"""From a document to chunks that fit the model and keep its structure."""

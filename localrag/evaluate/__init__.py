"""Measures retrieval on judged questions: the sets, and the figures."""

"""Stages 1 to 5: from a query to ranked passages. `pipeline` tells the whole story."""

"""Platt scaling: a logistic regression with one input."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_platt", "log_loss"]

Numbers = NDArray[np.float64]
STEPS = 50
RIDGE = 1e-6
"""Added to the second derivatives: data that a threshold separates has no finite optimum."""


def fit_platt(logits: Numbers, labels: Numbers) -> tuple[float, float]:
    """Return scale and bias with the least log loss, by Newton's method.

    Labels are drawn towards the middle by one example each, as in J. Platt, Probabilistic outputs
    for support vector machines, 1999. Both arrays have the shape (pairs,).
    """
    positives, negatives = labels.sum(), (1 - labels).sum()
    targets = np.where(labels > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    inputs = np.stack([logits, np.ones_like(logits)], axis=1)
    weights = np.array([1.0, 0.0])
    for _ in range(STEPS):
        probabilities = _sigmoid(inputs @ weights)
        gradient = inputs.T @ (probabilities - targets)
        curvature = (inputs * (probabilities * (1 - probabilities))[:, None]).T @ inputs
        weights = weights - np.linalg.solve(curvature + RIDGE * np.eye(2), gradient)
    return float(weights[0]), float(weights[1])


def log_loss(logits: Numbers, labels: Numbers, scale: float, bias: float) -> float:
    """Return the mean negative log likelihood of `labels`, in nats."""
    signed = np.where(labels > 0, 1, -1) * (scale * logits + bias)
    return float(np.logaddexp(0, -signed).mean())


def _sigmoid(values: Numbers) -> Numbers:
    result: Numbers = 0.5 * (1 + np.tanh(values / 2))
    return result

"""A one-dimensional convolutional network over the features of a job; needs torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, RegressorMixin

from analysis.arrays import Array

CHANNELS = 32
WIDTH = 2  # features that a filter sees
HIDDEN = 50
EPOCHS = 200
BATCH = 64


class ConvolutionalNetwork(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is not typed
    """The paper names no layers: one convolution, one hidden layer, Adam."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, x: Array, y: Array) -> ConvolutionalNetwork:
        """Learn from x, (n, features), and y, (n,)."""
        torch.manual_seed(self.seed)
        padded = max(x.shape[1], WIDTH)
        self.network_: Any = torch.nn.Sequential(
            torch.nn.Conv1d(1, CHANNELS, WIDTH),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(CHANNELS * (padded - WIDTH + 1), HIDDEN),
            torch.nn.ReLU(),
            torch.nn.Linear(HIDDEN, 1),
        )
        optimiser = torch.optim.Adam(self.network_.parameters())
        inputs, wanted = self._tensor(x), torch.tensor(np.ravel(y), dtype=torch.float32)
        for _ in range(EPOCHS):
            for batch in torch.randperm(len(inputs)).split(BATCH):
                optimiser.zero_grad()
                loss = torch.mean((self.network_(inputs[batch])[:, 0] - wanted[batch]) ** 2)
                loss.backward()
                optimiser.step()
        return self

    def predict(self, x: Array) -> Array:
        """Of x, (n, features): (n,)."""
        with torch.no_grad():
            found: Array = self.network_(self._tensor(x))[:, 0].numpy().astype(np.float64)
        return found

    @staticmethod
    def _tensor(x: Array) -> Any:
        missing = max(WIDTH - x.shape[1], 0)
        return torch.tensor(np.pad(x, ((0, 0), (0, missing)))[:, None, :], dtype=torch.float32)

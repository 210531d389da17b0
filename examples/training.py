# SPDX-License-Identifier: Apache-2.0
"""Trains a small network by data that is spread over the ranks: each computes the gradient of its part, and these are added
up while the layer before is computed.

weft run -n 4 python3 training.py [EPOCHS]"""
import sys

import numpy as np
import weft

EXAMPLES, INPUTS, HIDDEN = 960, 2, 16


def examples():
    """Points, and whether they lie in a ring."""
    points = np.random.default_rng(1).uniform(-1, 1, (EXAMPLES, INPUTS))
    return points, (np.abs(np.hypot(*points.T) - 0.6) < 0.25).astype(float)[:, None]


def initial():
    random = np.random.default_rng(2)
    return [random.normal(0, 1, (INPUTS, HIDDEN)), np.zeros(HIDDEN), random.normal(0, 0.5, (HIDDEN, 1)), np.zeros(1)]


def train(points, labels, epochs, add_up):
    """`add_up(gradient)` begins to add it up over the ranks: what it returns gives the sum when it is called."""
    weights = initial()
    for _ in range(epochs):
        first, bias, second, last_bias = weights
        hidden = np.tanh(points @ first + bias)
        guess = 1 / (1 + np.exp(-(hidden @ second + last_bias)))
        error = (guess - labels) / EXAMPLES
        of_last = add_up(np.concatenate([hidden.T @ error, error.sum(0)[None]]))
        back = error @ second.T * (1 - hidden**2)
        of_first = add_up(np.concatenate([points.T @ back, back.sum(0)[None]]))
        last, start = of_last(), of_first()
        for each, gradient in zip(weights, (start[:-1], start[-1], last[:-1], last[-1])):
            each -= 1.0 * gradient
    loss = -np.log(np.where(labels > 0, guess, 1 - guess)).sum()
    return weights, loss, ((guess > 0.5) == labels).sum()


def main():
    epochs = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    world = weft.world()
    points, labels = examples()
    mine = slice(EXAMPLES * world.rank // world.size, EXAMPLES * (world.rank + 1) // world.size)
    weights, loss, right = train(points[mine], labels[mine], epochs,
                                 lambda gradient: world.iallreduce(gradient, out=gradient).wait)
    loss, right = world.allreduce(float(loss)), world.allreduce(int(right))
    if world.rank == 0:
        serial, serial_loss, _ = train(points, labels, epochs, lambda gradient: lambda: gradient)
        difference = max(np.abs(ours - alone).max() for ours, alone in zip(weights, serial))
        if difference > 1e-6 or abs(loss - serial_loss) > 1e-6:
            raise SystemExit(f"training: {difference} away from serial training")
        print(f"{epochs} epochs on {world.size} ranks: {right} of {EXAMPLES} right, loss {loss / EXAMPLES:.4f}, "
              f"{difference:.1e} from serial training")


main()

"""The space of the table: 256 directions of the teacher's sentences, without the three that tell style and language."""

import numpy as np

DROPPED = 3


class Space:
    """project(vectors) centres the teacher's vectors and turns them into this space; the directions come in order of variance."""

    def __init__(self, groups, dim):
        """groups: vectors of sentences, an array for each prefix kind."""
        centred = np.concatenate([unit(g - g.mean(0)) for g in groups])
        values, directions = np.linalg.eigh(np.cov(centred.T))
        order = np.argsort(-values)[DROPPED : DROPPED + dim]
        directions = directions[:, order]
        largest = np.abs(directions).argmax(0)  # the sign of a direction is free: fix it
        self.directions = (directions * np.sign(directions[largest, range(dim)])).astype(np.float32)

    def project(self, vectors):
        """For vectors of one kind, whose mean is taken off."""
        return (vectors - vectors.mean(0)) @ self.directions


def unit(vectors):
    """Rows of length 1; zero rows stay zero."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)

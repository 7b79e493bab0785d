"""Trains the rows so that sums of rows lie to each other as the teacher's sentences do."""

import sys

import numpy as np

from space import unit

BATCH = 1024
GROUP = 64  # neighbours that come into a batch together
EPOCHS = 3
RATE = 4e-3
PULL = 0.3
TEMPERATURE = 0.05
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
KMEANS_ROUNDS = 6


class Sentences:
    """The sentences as rows of the table with their 1 + ln tf, and what the teacher says of them."""

    def __init__(self, encoder, texts, target):
        rows = [encoder.rows(t) for t in texts]
        kept = np.array([i for i, r in enumerate(rows) if r])
        self.target = target[kept]
        self.row = np.concatenate([np.fromiter(rows[i].keys(), np.int64) for i in kept])
        self.weight = 1 + np.log(np.concatenate([np.fromiter(rows[i].values(), np.float32) for i in kept]))
        self.start = np.concatenate([[0], np.cumsum([len(rows[i]) for i in kept])])

    def __len__(self):
        return len(self.target)

    def batch(self, chosen):
        """(row, weight, sentence in the batch) of every row in the chosen sentences."""
        sizes = self.start[chosen + 1] - self.start[chosen]
        owner = np.repeat(np.arange(len(chosen)), sizes)
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        at = np.repeat(self.start[chosen] - first, sizes) + np.arange(sizes.sum())
        return self.row[at], self.weight[at], owner


def train(prior, sentences, random):
    """The trained matrix: directions between prior and learned ones, norms near the prior's."""
    matrix = Adam(prior).run(sentences, schedule(sentences, random))
    norm = np.linalg.norm(prior, axis=1, keepdims=True)
    return norm * (unit(matrix) + unit(prior))


def schedule(sentences, random):
    """Batches of all epochs: by turns random sentences and groups of neighbours."""
    groups = neighbour_groups(sentences.target, random)
    turns = EPOCHS * len(sentences) // BATCH
    mixed, near = [], []
    for turn in range(turns):
        if turn % 2:
            if len(near) < BATCH // GROUP:
                near = list(random.permutation(len(groups)))
            yield turn / turns, np.concatenate([groups[near.pop()] for _ in range(BATCH // GROUP)])
        else:
            if len(mixed) < BATCH:
                mixed = random.permutation(len(sentences))
            yield turn / turns, mixed[:BATCH]
            mixed = mixed[BATCH:]


def neighbour_groups(vectors, random):
    """The sentences in groups of GROUP, each within or next to one cluster of a k-means."""
    count = len(vectors) // GROUP
    centres = vectors[random.choice(len(vectors), count, replace=False)]
    for _ in range(KMEANS_ROUNDS):
        cluster = nearest(vectors, centres)
        order = np.argsort(cluster, kind="stable")
        filled, first = np.unique(cluster[order], return_index=True)
        centres[filled] = unit(np.add.reduceat(vectors[order], first))
    order = np.argsort(nearest(vectors, centres), kind="stable")
    return order[: count * GROUP].reshape(count, GROUP)


def nearest(vectors, centres):
    parts = [(vectors[i : i + 8192] @ centres.T).argmax(1) for i in range(0, len(vectors), 8192)]
    return np.concatenate(parts)


class Adam:
    """Adam on the rows that a batch touches, and a pull back to the prior on the same rows."""

    def __init__(self, prior):
        self.prior, self.matrix = prior, prior.copy()
        self.mean, self.square = np.zeros_like(prior), np.zeros_like(prior)

    def run(self, sentences, batches):
        for step, (done, chosen) in enumerate(batches, 1):
            rows, gradient, loss = self.gradient(sentences, chosen)
            self.move(rows, gradient, RATE * (1 - done), step)
            if step % 100 == 0:
                print(f"training: step {step}, loss {loss:.4f}", file=sys.stderr)
        return self.matrix

    def gradient(self, sentences, chosen):
        """(rows, d loss / d rows, loss) of a batch."""
        row, weight, owner = sentences.batch(chosen)
        first = np.searchsorted(owner, np.arange(len(chosen)))
        sums = np.add.reduceat(self.matrix[row] * weight[:, None], first)
        d_sums, loss = loss_gradient(sums, sentences.target[chosen])
        order = np.argsort(row, kind="stable")
        rows, first = np.unique(row[order], return_index=True)
        return rows, np.add.reduceat(d_sums[owner[order]] * weight[order, None], first), loss

    def move(self, rows, gradient, rate, step):
        self.mean[rows] += (1 - BETA1) * (gradient - self.mean[rows])
        self.square[rows] += (1 - BETA2) * (gradient**2 - self.square[rows])
        mean = self.mean[rows] / (1 - BETA1**step)
        square = self.square[rows] / (1 - BETA2**step)
        self.matrix[rows] -= rate * (mean / (np.sqrt(square) + EPSILON) + PULL * (self.matrix[rows] - self.prior[rows]))


def loss_gradient(sums, target):
    """KL between the in-batch similarities of target and student, plus 1 - cosine; both means over the batch."""
    length = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-12
    student = sums / length
    wanted, found = softmax(target @ target.T), softmax(student @ student.T)
    cosine = (student * target).sum(1)
    loss = (wanted * np.log((wanted + 1e-12) / (found + 1e-12))).sum(1).mean() + (1 - cosine).mean()
    pull = (found - wanted) / TEMPERATURE
    d_student = ((pull + pull.T) @ student - target) / len(sums)
    return (d_student - (d_student * student).sum(1, keepdims=True) * student) / length, loss


def softmax(similarity):
    """Over the others of the batch: a sentence's similarity to itself is left out."""
    np.fill_diagonal(similarity, -np.inf)
    e = np.exp((similarity - similarity.max(1, keepdims=True)) / TEMPERATURE)
    return e / e.sum(1, keepdims=True)

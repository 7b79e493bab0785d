"""The rows of the table: which words, pieces and Han words, and how probable each is."""

import dataclasses
import importlib.util
import math
import pathlib
import re

import numpy as np

START = "\u2581"  # in front of a unigram piece that begins a word
LATIN = re.compile("[a-z0-9]+")
HAN = re.compile("[\u3400-\u9fff]{1,6}")
SINGLE_BONUS = 3.0  # single Han characters rank this much higher: they are the way out for unknown words
NO_COST = 255


@dataclasses.dataclass
class Vocabulary:
    names: list  # Latin words, then "##" pieces, then Han words, each part most probable first
    log_probability: np.ndarray  # natural logarithm, a row each
    latin: int  # how many of the names are Latin words
    pieces: int
    han: int

    def entries(self):
        """What the teacher is asked to embed for each row."""
        return [n.removeprefix("##") for n in self.names]

    def costs(self):
        """-10 x log-probability as a byte, for Han words; 255 for all others."""
        cost = np.clip(np.rint(-10 * self.log_probability), 0, NO_COST - 1).astype(np.uint8)
        cost[: self.latin + self.pieces] = NO_COST
        return cost


def build(weights, latin, pieces, han):
    """The best of the word lists and of the teacher's unigrams; weights is a teacher.WeightFile."""
    words, inside, cjk = english(), {}, chinese()
    for piece, score in zip(weights.pieces, weights.scores.tolist()):
        begins = piece.startswith(START)
        form = piece.removeprefix(START).lower()
        if LATIN.fullmatch(form):
            keep_larger(words if begins else inside, form, score)
        elif HAN.fullmatch(form):
            keep_larger(cjk, form, score)
    chosen = [*top(words, latin), *(("##" + n, s) for n, s in top(inside, pieces))]
    chosen += top(cjk, han, lambda name: SINGLE_BONUS * (len(name) == 1))
    names, scores = zip(*chosen)
    if len(names) != latin + pieces + han:
        raise SystemExit(f"found {len(names)} entries, wanted {latin} + {pieces} + {han}")
    return Vocabulary(list(names), np.array(scores), latin, pieces, han)


def keep_larger(table, name, score):
    table[name] = max(score, table.get(name, -math.inf))


def top(table, count, bonus=lambda name: 0.0):
    """The count best (name, log-probability), ties by name."""
    return sorted(table.items(), key=lambda i: (-i[1] - bonus(i[0]), i[0]))[:count]


def english():
    """Log-probabilities of symspellpy's English list; a line is "word count"."""
    path = package_file("symspellpy", "frequency_dictionary_en_82_765.txt")
    lines = path.read_text("utf-8-sig").splitlines()
    return probabilities((line.split(" ") for line in lines), LATIN)


def chinese():
    """Log-probabilities of jieba's dictionary; a line is "word count tag"."""
    lines = package_file("jieba", "dict.txt").read_text("utf8").splitlines()
    return probabilities((line.rsplit(" ", 2)[:2] for line in lines), HAN)


def probabilities(pairs, wanted):
    counts = {word: int(count) for word, count in pairs}
    total = sum(counts.values())
    return {w: math.log(c / total) for w, c in counts.items() if c > 0 and wanted.fullmatch(w)}


def package_file(package, name):
    """A data file of an installed package, which is not imported."""
    return pathlib.Path(importlib.util.find_spec(package).origin).parent / name

"""The encoder, as package llm/local has it in Go: text -> rows -> vector. That one is checked against this one."""

import collections
import functools
import itertools
import math
import unicodedata

import numpy as np

from vocabulary import NO_COST

ENDINGS = (("s", ""), ("es", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"), ("ies", "y"), ("ly", ""), ("er", ""), ("ness", ""))
MIN_STEM = 3
MAX_HAN_WORD = 6
UNKNOWN_COST = 200  # of a Han character that has no row


UNJOINED = {"ß": "ss", "æ": "ae", "œ": "oe", "þ": "th", "ø": "o", "ð": "d", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "ŧ": "t"}


def script(letter):
    """What a letter can be part of: "latin", "han", "" if it separates, "mark" if it is an accent."""
    if "a" <= letter <= "z" or "0" <= letter <= "9" or "\u00df" <= letter <= "\u024f" and letter != "÷":
        return "latin"
    if "\u3400" <= letter <= "\u9fff":
        return "han"
    return "mark" if "\u0300" <= letter <= "\u036f" else ""


@functools.cache
def letters(character):
    """(script, what a character stands for): lower case, no accents; full-width forms and ligatures as plain letters."""
    whole = "\ufb00" <= character <= "\ufb06" or "\uff01" <= character <= "\uff5e"
    parts = unicodedata.normalize("NFKD" if whole else "NFD", character)
    plain = "".join(UNJOINED.get(p, p) for p in (p.lower()[0] for p in parts))
    kinds = {script(p) for p in plain} - {"mark"}
    if not kinds:
        return "mark", ""
    kind = kinds.pop()
    return ("", "") if kinds or not kind else (kind, "".join(p for p in plain if script(p) == kind))


def runs(text):
    """(script, run) of each longest stretch of one script."""
    read = [pair for pair in map(letters, text) if pair[0] != "mark"]
    for kind, run in itertools.groupby(read, lambda pair: pair[0]):
        if kind:
            yield kind, "".join(part for _, part in run)


class Encoder:
    """rows(text) and vector(text) by a vocabulary and the table's matrix (None: rows only)."""

    def __init__(self, names, costs, matrix=None):
        self.names, self.costs, self.matrix = names, costs.tolist(), matrix
        self.row = {name: i for i, name in enumerate(names)}
        self.longest = max(map(len, names))
        self.latin = functools.lru_cache(1 << 18)(self._latin)

    def rows(self, text):
        """{row: how often}, in order of first occurrence."""
        counts = collections.Counter()
        for kind, run in runs(text):
            counts.update(self.latin(run) if kind == "latin" else self._han(run))
        return counts

    def vector(self, text):
        """The sum of (1 + ln tf) x row, of length 1; None if there are no rows."""
        rows = self.rows(text)
        total = sum((1 + math.log(tf)) * self.matrix[row] for row, tf in rows.items())
        return total / np.linalg.norm(total) if rows else None

    def _latin(self, word):
        row = self.row.get(word)
        if row is not None:
            return (row,)
        if word.isascii() and word.isdigit():
            return ()
        for cut, add in ENDINGS:
            stem = word.removesuffix(cut)
            if len(stem) < len(word) and len(stem) >= MIN_STEM and stem + add in self.row:
                return (self.row[stem + add],)
        return tuple(self._pieces(word))

    def _pieces(self, word):
        """Greedy longest match: the first piece as a word, the others as insides, a letter skipped where none fits."""
        prefix, at = "", 0
        while at < len(word):
            for end in range(min(len(word), at + self.longest), at + 1, -1):
                row = self.row.get(prefix + word[at:end])
                if row is not None:
                    yield row
                    prefix, at = "##", end
                    break
            else:
                at += 1

    def _han(self, run):
        """Viterbi: the words whose costs sum to the least; of equal ways the one with the longer last word."""
        cost = [0] + [math.inf] * len(run)
        last = [(0, -1)] * (len(run) + 1)
        for i in range(len(run)):
            for row, j, c in self._from(run, i):
                if cost[i] + c < cost[j]:
                    cost[j], last[j] = cost[i] + c, (i, row)
        found, j = [], len(run)
        while j:
            j, row = last[j]
            if row >= 0:
                found.append(row)
        return found[::-1]

    def _from(self, run, i):
        """(row, end, cost) of the words that begin at i; the character alone if it is unknown."""
        known = False
        for j in range(i + 1, min(len(run), i + MAX_HAN_WORD) + 1):
            row = self.row.get(run[i:j])
            if row is not None and self.costs[row] != NO_COST:
                known = known or j == i + 1
                yield row, j, self.costs[row]
        if not known:
            yield -1, i + 1, UNKNOWN_COST

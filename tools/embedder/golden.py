"""What the encoder must give for a few texts: the file that the tests of llm/local compare with."""

import json

TEXTS = (
    "Melanie adopted two rescue dogs last summer.",
    "What do Caroline's kids like about hiking in the mountains?",
    "《霸王别姬》是陈凯歌执导的一部电影,由张国荣主演。",
    "我想看 The Godfather 的导演剪辑版 DVD",
    "the the the cat, the CAT; cats!",
    "Kubernetes hyperparameterization of xkcdbot42",
    "Élan vital, naïve café in Malmö",
    "born 1987, moved 2018, room 40311",
    "happiest unhappiness studied hurried making easily",
    "mail a.b@example.org or see https://example.org/x?id=7",
    "龘靐齉与朋友",
    "İstanbul K, cafe\u0301 Straße Łódź",
    "ＤＶＤ１２号 ﬁnal oﬀer™ m² 3÷4",
    "the of and",
    "",
    "  \t\n",
    "😀 — ♫ !?",
    "привет мир",
    "한국어와 日本語",
)


def write(path, encoder):
    """Rows by name with their counts, and the vector, of each of TEXTS."""
    cases = []
    for text in TEXTS:
        vector = encoder.vector(text)
        rows = [[encoder.names[row], tf] for row, tf in encoder.rows(text).items()]
        rounded = [round(float(x), 6) for x in vector] if rows else None
        cases.append(json.dumps({"text": text, "rows": rows, "vector": rounded}, ensure_ascii=False))
    path.write_text("[\n" + ",\n".join(cases) + "\n]\n")

"""Sentences to learn from: the glosses and examples of WordNet 3.0, and questions for its nouns."""

import pathlib
import re

PARTS = "noun", "verb", "adj", "adv"
GLOSS_FORMS = "{gloss}", "{word}: {gloss}", "{word} means {gloss}", "{words}; {gloss}"
QUESTION_FORMS = "What is {word}?", "What do you know about {word}?", "Tell me about {word}.", "Which {word} do you mean?"
QUESTION_EVERY = 3  # a question for every third noun


def read(folder):
    """(passages, queries): each gloss in one of four forms, the examples; the questions."""
    passages, examples, queries = [], [], {}
    for part in PARTS:
        for number, (words, gloss) in enumerate(synsets(pathlib.Path(folder) / f"data.{part}")):
            definition, quoted = split(gloss)
            form = GLOSS_FORMS[number % len(GLOSS_FORMS)]
            passages.append(form.format(gloss=definition, word=words[0], words=", ".join(words)))
            examples.extend(quoted)
            if part == "noun" and number % QUESTION_EVERY == 0:
                form = QUESTION_FORMS[len(queries) % len(QUESTION_FORMS)]
                queries.setdefault(words[0], form.format(word=words[0]))
    return distinct(passages + examples), distinct(queries.values())


def synsets(path):
    """(words, gloss) of each line of a data file; its licence stands in front, indented."""
    for line in path.read_text("ascii").splitlines():
        if line.startswith(" "):
            continue
        fields, gloss = line.split(" | ", 1)
        fields = fields.split(" ")
        words = [w.partition("(")[0].replace("_", " ") for w in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
        yield words, gloss.strip()


def split(gloss):
    """The definition and the quoted examples of a gloss."""
    definition = gloss.partition('; "')[0].strip('"; ')
    return definition, re.findall(r'"([^"]{3,})"', gloss)


def distinct(texts):
    return list(dict.fromkeys(texts))

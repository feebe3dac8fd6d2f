"""Translate parallel text with a teacher, as further data for ``train_bundled.py``.

    python scripts/distill.py data distilled --teacher path/to/opus-mt-fr-en --langs fr en \\
        --corpora newstest mt-geneval --exclude data/pawsx/*.tsv data/flores/*.tsv.xz

Every sentence in the teacher's source language is translated. The translation is paired with the
sentence and with its translation in any other language, so a teacher from French to English also
yields German-English and Spanish-English pairs; two English sentences with the same French one
become a paraphrase when the model is trained. Pairs with a held-out sentence are left out, and
translations that are in one of the files ``--exclude`` (letters and digits compared, in lower
case). Writes ``distilled/fr-en/distilled.PAIR.tsv``. An interrupted run resumes from the cache.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from train_bundled import LANGUAGES, corpus_files

import tertium
from tertium.data.lines import read_lines
from tertium.storage.atomic import replacing_text
from tertium.training.model.bitext import Pair, held_out, read_bitext

AT_ONCE = 2_000
"""Sentences between two reports of progress."""


def normalized(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def fields(paths: Iterable[Path]) -> set[str]:
    """Return the normalized fields of tables."""
    lines = (line for path in paths for line in read_lines(path))
    return {normalized(field) for line in lines for field in line.split("\t")}


def read_pairs(files: Iterable[Path], lang: str) -> list[Pair]:
    """Read the pairs with a side in ``lang``, which is put first; held-out ones are left out."""
    pairs: dict[Pair, None] = {}
    for pair in (pair for path in files for pair in read_bitext(path, LANGUAGES)):
        if lang in (pair.lang_a, pair.lang_b) and not held_out(pair.a) and not held_out(pair.b):
            other = Pair(pair.lang_b, pair.lang_a, pair.b, pair.a)
            pairs[pair if pair.lang_a == lang else other] = None
    return list(pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--teacher", required=True, help="name or folder of a translation model")
    parser.add_argument("--langs", nargs=2, required=True, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--corpora", nargs="+", required=True)
    parser.add_argument("--exclude", nargs="*", type=Path, default=[])
    parser.add_argument("--sentences", type=int, help="the first to translate (default: all)")
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    source_lang, target_lang = arguments.langs
    teacher = tertium.load_model(arguments.teacher, compute_type="int8", threads=arguments.threads)
    excluded = fields(arguments.exclude)
    files = corpus_files(arguments.data)
    pairs = read_pairs(
        (path for corpus in arguments.corpora for path in files[corpus]), source_lang
    )
    sentences = list(dict.fromkeys(pair.a for pair in pairs))[: arguments.sentences]
    translations: dict[str, str] = {}
    for start in range(0, len(sentences), AT_ONCE):
        some = sentences[start : start + AT_ONCE]
        made = teacher.translate(
            some, target_lang=target_lang, source_lang=source_lang, beam_size=1
        )
        for sentence, translation in zip(some, made, strict=True):
            text = " ".join(translation.text.split())
            if text and not translation.cut and normalized(text) not in excluded:
                translations[sentence] = text
        print(f"{len(translations)} of {len(sentences)} sentences", flush=True)

    rows: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)
    for pair in pairs:
        if pair.a in translations:
            rows[source_lang][pair.a, translations[pair.a]] = None
            if pair.lang_b != target_lang:
                rows[pair.lang_b][pair.b, translations[pair.a]] = None
    folder = arguments.out / f"{source_lang}-{target_lang}"
    folder.mkdir(parents=True, exist_ok=True)
    for lang, found in rows.items():
        path = folder / f"distilled.{'-'.join(sorted((lang, target_lang)))}.tsv"
        with replacing_text(path) as stream:
            stream.write(f"{lang}\t{target_lang}\n")
            stream.writelines(f"{text}\t{translation}\n" for text, translation in found)
        print(f"{path}: {len(found)} pairs")


if __name__ == "__main__":
    main()

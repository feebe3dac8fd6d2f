"""Where the time of translation-based measures goes: beam search, batches, and the encoder.

    python benchmarks/inside.py search newstest.en-es.tsv.xz --count 64
    python benchmarks/inside.py encoder newstest.en-fr.tsv.xz --model opus-mt-en-fr --count 48

The table has one column per language, named by its code; the first two are used. Everything runs
with one thread in float32 and without a cache; the rounds alternate, and the CPU times are medians.

``search``: the CPU time of ``cross`` over the pairs, the share of it that is spent on translations,
how full the batches are, and the CPU time of the translations with other beam sizes and batches. A
step of the engine is one token for every row of a batch that has not ended; the steps of a batch
are those of its longest translation.

``encoder``: the CPU time of p(second | first), and of the same targets with sources of one token.
The difference is the share of the encoder and of reading its output; sharing the encoder's output
between n targets of a source would save at most this share times (1 - 1/n).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import tertium
from tertium.data.records import open_table
from tertium.models.base import make_queries
from tertium.models.cached import CachedModel
from tertium.models.tokenizer import END
from tertium.models.translation.ctranslate2 import CTranslate2Model

BEAM = 5
VARIANTS = {
    "as it is": (BEAM, 1.0),
    "beam size 1": (1, 1.0),
    "batches of a quarter of the size": (BEAM, 0.25),
    "batches of four times the size": (BEAM, 4.0),
}
"""The beam size, and the size of batches relative to the usual one."""
Batch = tuple[list[list[str]], list[Any]]
"""The sources, and the engine's promises of their translations."""


class Watched:
    """The engine of a model, which records what it is asked to translate."""

    def __init__(self, translator: Any) -> None:
        self._translator = translator
        self.batches: list[Batch] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._translator, name)

    def translate_batch(self, sources: list[list[str]], *rest: Any, **settings: Any) -> list[Any]:
        futures: list[Any] = self._translator.translate_batch(sources, *rest, **settings)
        self.batches.append((sources, futures))
        return futures


class Clock:
    """CPU time of a function, added up over its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.seconds = 0.0

    def __call__(self, *given: Any, **settings: Any) -> Any:
        started = time.process_time()
        try:
            return self._function(*given, **settings)
        finally:
            self.seconds += time.process_time() - started


def search(model: CTranslate2Model, sides: list[list[str]], langs: list[str], rounds: int) -> None:
    engine, candidates = model._engine, model.candidates
    usual, translator = engine.batch_tokens, engine.backend
    whole: defaultdict[str, list[float]] = defaultdict(list)
    translating: defaultdict[str, list[float]] = defaultdict(list)
    batches: dict[str, list[Batch]] = {}
    for _ in range(rounds):
        for name, (beam, size) in VARIANTS.items():
            engine.batch_tokens = int(usual * size)
            engine.backend = watched = Watched(translator)
            model.candidates = clock = Clock(candidates)  # type: ignore[method-assign]
            measure = tertium.load("cross", model=CachedModel(model), beam_size=beam)
            started = time.process_time()
            measure(sides[0], sides[1], lang=langs[0], reference_lang=langs[1])
            whole[name].append(time.process_time() - started)
            translating[name].append(clock.seconds)
            batches[name] = watched.batches
    first, *others = VARIANTS
    rows = tokens = padded = steps = unended = 0
    for sources, futures in batches[first]:
        translations = [future.result().hypotheses[0] for future in futures]
        rows += len(sources)
        tokens += sum(map(len, sources))
        padded += len(sources) * max(map(len, sources))
        steps += max(map(len, translations))
        unended += sum(each[-1:] != [END] for each in translations)
    total, share = statistics.median(whole[first]), statistics.median(translating[first])
    print(f"| CPU seconds of `cross` | {total:.2f} |")
    print(f"| share of translation | {100 * share / total:.0f} % |")
    print(f"| rows per batch | {rows / len(batches[first]):.1f} |")
    print(f"| steps of the engine | {steps} |")
    print(f"| padding of sources | {100 * (1 - tokens / padded):.0f} % |")
    print(f"| translations that did not end | {unended} of {rows} |")
    for name in others:
        ratio = statistics.median(translating[name]) / share
        print(f"| CPU time of translation with {name}, relative | {ratio:.2f} |")


def encoder(model: CTranslate2Model, sides: list[list[str]], langs: list[str], rounds: int) -> None:
    sources, targets = sides
    times: defaultdict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        for name, given in {"whole": sources, "short": ["."] * len(targets)}.items():
            started = time.process_time()
            model.log_probs(
                make_queries(targets, given, target_lang=langs[1], source_lang=langs[0])
            )
            if number:  # the first round is the warm-up
                times[name].append(time.process_time() - started)
    whole, short = (statistics.median(seconds) for seconds in times.values())
    read = sum(map(len, model._source_tokenizer.encode(sources))) / len(sources)
    written = sum(model.token_counts(targets)) / len(targets)
    print(f"| tokens per source, target | {read:.0f}, {written:.0f} |")
    print(f"| CPU seconds | {whole:.2f} |")
    print(f"| less with sources of one token | {100 * (1 - short / whole):.0f} % |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("search", "encoder"))
    parser.add_argument("table", type=Path)
    parser.add_argument("--model", default="tertium-mini")
    parser.add_argument("--count", type=int, default=64, help="pairs")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    table = open_table(arguments.table)
    langs = table.columns()[:2]
    pairs = list(islice(table, arguments.count))
    sides = [[pair[lang] for pair in pairs] for lang in langs]
    model = tertium.load_model(arguments.model, threads=1, cache=False).model
    assert isinstance(model, CTranslate2Model)
    print(f"{model!r}, {len(pairs)} pairs of {arguments.table.name}\n\n| | |\n|---|---|")
    run = search if arguments.what == "search" else encoder
    run(model, sides, langs, arguments.rounds)


if __name__ == "__main__":
    main()

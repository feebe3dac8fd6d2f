"""The worker of ``benchmarks/peers.py`` for the peers, in an environment without Tertium.

Reads one task per line from standard input (JSON), and prints one line each: seconds and scores.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

Scores = list[float]
PACKAGES = (
    "nmtscore",
    "bert-score",
    "moverscore",
    "pyemd",
    "sacrebleu",
    "mbrs",
    "sentence-transformers",
    "torch",
    "transformers",
    "tokenizers",
)


@cache
def scorer(folder: str) -> Any:
    """nmtscore with an M2M100 folder or, by the class below, a Marian folder."""
    from nmtscore import NMTScorer
    from nmtscore.models.m2m100 import M2M100Model

    with open(f"{folder}/config.json", encoding="utf-8") as file:
        marian = json.load(file)["model_type"] == "marian"
    return NMTScorer(marian_model(folder) if marian else M2M100Model(folder))


def marian_model(folder: str) -> Any:
    """The M2M100 class of nmtscore, for a bilingual model without language tags."""
    import torch
    from nmtscore.models.m2m100 import M2M100Model
    from nmtscore.models.utils import batch
    from transformers import MarianMTModel, MarianTokenizer
    from transformers.models.marian.modeling_marian import shift_tokens_right

    class MarianModel(M2M100Model):  # type: ignore[misc]
        def _load_tokenizer(self) -> Any:
            return MarianTokenizer.from_pretrained(folder)

        def _load_model(self) -> Any:
            return MarianMTModel.from_pretrained(folder)

        @torch.no_grad()
        def _score(
            self, sources: list[str], targets: list[str], batch_size: int = 8, **kwargs: Any
        ) -> Scores:
            pad = self.tokenizer.pad_token_id
            scores = []
            for some, others in zip(
                batch(sources, batch_size), batch(targets, batch_size), strict=True
            ):
                inputs = self.tokenizer(
                    some, text_target=others, return_tensors="pt", padding="longest"
                )
                labels = inputs["labels"].masked_fill(inputs["labels"] == pad, -100)
                inputs["labels"] = labels
                inputs["decoder_input_ids"] = shift_tokens_right(labels, pad, pad)
                for logits, label in zip(self.model(**inputs).logits, labels, strict=True):
                    scores.append(float(2 ** -torch.nn.functional.cross_entropy(logits, label)))
            return scores

    return MarianModel(folder)


def direct(task: dict[str, Any]) -> Scores:
    lang = task["lang"]
    return list(scorer(task["model"]).score_direct(task["hyp"], task["ref"], lang, lang))


def pivot(task: dict[str, Any]) -> Scores:
    lang = task["lang"]
    return list(
        scorer(task["model"]).score_pivot(
            task["hyp"], task["ref"], lang, lang, pivot_lang=task["by"]
        )
    )


def cross(task: dict[str, Any]) -> Scores:
    lang = task["lang"]
    return list(
        scorer(task["model"]).score_cross_likelihood(
            task["hyp"], task["ref"], lang, lang, tgt_lang=task["by"]
        )
    )


def five(task: dict[str, Any]) -> Scores:
    """The three measures of NMTScore and the two of Prism, from the same model."""
    lang, hyp, ref = task["lang"], task["hyp"], task["ref"]
    model = scorer(task["model"]).model
    forth = [math.log2(p) for p in model.score(lang, ref, hyp, lang)]
    back = [math.log2(p) for p in model.score(lang, hyp, ref, lang)]
    prism_ref = [(a + b) / 2 for a, b in zip(forth, back, strict=True)]
    prism_src = [math.log2(p) for p in model.score(lang, ref, hyp, lang)]
    return [*direct(task), *pivot(task), *cross(task), *prism_ref, *prism_src]


def systems(task: dict[str, Any]) -> Scores:
    """``direct`` of each system against the same references."""
    return [score for hyp in task["systems"] for score in direct({**task, "hyp": hyp})]


@cache
def bert_scorer(folder: str, layer: int) -> Any:
    from bert_score import BERTScorer

    return BERTScorer(model_type=folder, num_layers=layer, device="cpu")


def bertscore(task: dict[str, Any]) -> Scores:
    _, _, F = bert_scorer(task["model"], task["layer"]).score(task["hyp"], task["ref"])
    return [float(score) for score in F]


@cache
def bert(folder: str, layer: int) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).eval()
    model.encoder.layer = model.encoder.layer[:layer]
    return AutoTokenizer.from_pretrained(folder), model


def wmd(task: dict[str, Any]) -> Scores:
    """The steps of moverscore (whose code needs transformers 2 and a GPU).

    256 texts are encoded at once with padding; both texts of a pair form one problem, which pyemd
    solves. All tokens have the same weight.
    """
    import numpy as np
    import torch
    from pyemd import emd

    tokenizer, model = bert(task["model"], task["layer"])

    def encode(texts: list[str]) -> list[Any]:
        inputs = tokenizer(texts, return_tensors="pt", padding=True)
        with torch.no_grad():
            states = model(**inputs).last_hidden_state
        lengths = inputs["attention_mask"].sum(1).tolist()
        return [state[1 : length - 1] for state, length in zip(states, lengths, strict=True)]

    scores = []
    for start in range(0, len(task["hyp"]), 256):
        window = slice(start, start + 256)
        for a, b in zip(encode(task["hyp"][window]), encode(task["ref"][window]), strict=True):
            both = torch.cat([a, b]).double()
            costs = torch.cdist(both, both).numpy()
            c1, c2 = np.zeros(len(both)), np.zeros(len(both))
            c1[: len(a)], c2[len(a) :] = 1 / len(a), 1 / len(b)
            scores.append(-emd(c1, c2, costs))
    return scores


def bleu(task: dict[str, Any]) -> Scores:
    from sacrebleu import BLEU

    metric = BLEU(effective_order=True)
    pairs = zip(task["hyp"], task["ref"], strict=True)
    return [metric.sentence_score(hyp, [ref]).score for hyp, ref in pairs]


def chrf(task: dict[str, Any]) -> Scores:
    from sacrebleu import CHRF

    metric = CHRF()
    pairs = zip(task["hyp"], task["ref"], strict=True)
    return [metric.sentence_score(hyp, [ref]).score for hyp, ref in pairs]


def mbr(task: dict[str, Any]) -> Scores:
    """The expected chrF of each candidate, in the order of the lists."""
    from mbrs.decoders import DecoderAggregateMBR, DecoderMBR
    from mbrs.metrics import MetricChrF

    metric = MetricChrF(MetricChrF.Config(fastchrf=task["fast"], num_workers=1))
    kind = DecoderAggregateMBR if task["aggregate"] else DecoderMBR
    decoder = kind(kind.Config(), metric)
    scores = []
    for texts in task["lists"]:
        output = decoder.decode(texts, texts, nbest=len(texts))
        by_place = dict(zip(output.idx, output.score, strict=True))
        scores += [float(by_place[place]) for place in range(len(texts))]
    return scores


@cache
def sentence_transformer(folder: str) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(folder, device="cpu")


def mining(task: dict[str, Any]) -> Scores:
    """The cosines of the most similar pairs."""
    from sentence_transformers.util import paraphrase_mining

    texts = task["texts"]
    found = paraphrase_mining(
        sentence_transformer(task["model"]),
        texts,
        top_k=task["neighbours"],
        max_pairs=len(texts) * task["neighbours"],
    )
    return [float(score) for score, _, _ in found][: len(texts)]


TASKS: dict[str, Callable[[dict[str, Any]], Scores]] = {
    "direct": direct,
    "pivot": pivot,
    "cross": cross,
    "five": five,
    "systems": systems,
    "bertscore": bertscore,
    "wmd": wmd,
    "bleu": bleu,
    "chrf": chrf,
    "mbr": mbr,
    "mining": mining,
}


def versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def main() -> None:
    import torch

    torch.set_num_threads(int(sys.argv[1]))
    results = sys.stdout
    print(json.dumps(versions()), flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        started = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            scores = TASKS[task["task"]](task)
        seconds = time.perf_counter() - started
        print(json.dumps({"seconds": seconds, "scores": scores}), file=results, flush=True)


if __name__ == "__main__":
    main()

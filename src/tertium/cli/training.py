"""The options of ``tertium train``, in groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from tertium.cli.commands import flags
from tertium.cli.options import INPUT
from tertium.errors import SettingError

if TYPE_CHECKING:
    from tertium.training.detector.plan import DetectorPlan
    from tertium.training.model.plan import Plan

SIZES, MIXTURE, UPDATES, PACE = "Sizes", "Mixture", "Updates", "Pace"
Steps = Annotated[
    int | None, Option("--steps", min=1, help="Stop at this step.", rich_help_panel=PACE)
]


@dataclass(frozen=True)
class DataOptions:
    """What a translation model is trained on, and from which recipe or model."""

    bitext: Annotated[
        list[str] | None,
        Option(
            help="A TSV file (plain, .gz, .xz), or FILE=WEIGHT; repeatable.", rich_help_panel=INPUT
        ),
    ] = None
    languages: Annotated[
        str | None,
        Option("--langs", help="The languages, such as en,de,fr.", rich_help_panel=INPUT),
    ] = None
    columns: Annotated[
        list[str] | None,
        Option(
            "--column",
            help="NAME=LANG: the language of a column; repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None
    dev: Annotated[
        list[str] | None,
        Option(
            help="A development set to evaluate on; NAME=FILE if there are several.",
            rich_help_panel=INPUT,
        ),
    ] = None
    recipe: Annotated[
        str | None, Option(help="mini (default), mini-encoder, prism, parabank2, lm or scaling.")
    ] = None
    init: Annotated[Path | None, Option(help="A Hugging Face folder (M2M100) to start from.")] = (
        None
    )
    grow: Annotated[
        bool | None,
        Option(
            "--grow",
            help="Add layers and width to --init, up to the recipe's, that add nothing at first.",
        ),
    ] = None
    spm: Annotated[Path | None, Option(help="A SentencePiece model to use.")] = None

    def plan(self, given: Mapping[str, Any]) -> Plan:
        """The plan of a new run, with the settings that are given."""
        from tertium.training.model.plan import MIXTURES, Mixture, Plan, Recipe, get_recipe

        original = get_recipe(self.recipe or "mini")
        sizes = fields_of(given, SizeOptions)
        if self.init is not None and not self.grow and sizes:
            raise SettingError(f"--init sets the sizes; leave out {flags(sizes)}, or use --grow")
        return Plan(
            languages=tuple(filter(None, (self.languages or "").split(","))),
            bitext=tuple(map(_file_and_weight, self.bitext or ())),
            columns=tuple(_split("--column", "NAME=LANG", text) for text in self.columns or ()),
            recipe=replace(original, **fields_of(given, Recipe)),
            mixture=replace(MIXTURES[original.name], **fields_of(given, Mixture)),
            dev=tuple(map(_named_file, self.dev or ())),
            init=_absolute(self.init),
            grow=bool(self.grow),
            spm=_absolute(self.spm),
            seed=given.get("seed", 1),
        )


@dataclass(frozen=True)
class SizeOptions:
    """Sizes that an existing model has already."""

    vocabulary: Annotated[
        int | None, Option(min=1, help="Number of tokens.", rich_help_panel=SIZES)
    ] = None
    d_model: Annotated[
        int | None, Option("--width", min=1, help="Width of the network.", rich_help_panel=SIZES)
    ] = None
    ffn: Annotated[
        int | None,
        Option("--inner-width", min=1, help="Of its inner layers.", rich_help_panel=SIZES),
    ] = None
    encoder_layers: Annotated[
        int | None, Option(min=1, help="Layers of the encoder.", rich_help_panel=SIZES)
    ] = None
    decoder_layers: Annotated[
        int | None, Option(min=1, help="Layers of the decoder.", rich_help_panel=SIZES)
    ] = None
    heads: Annotated[
        int | None,
        Option(min=1, help="Attention heads; they share --width.", rich_help_panel=SIZES),
    ] = None


@dataclass(frozen=True)
class MixtureOptions:
    """The shares of the kinds of pairs."""

    paraphrases: Annotated[
        float | None,
        Option(help="Share of pivot paraphrases (mini 0.15, prism 0).", rich_help_panel=MIXTURE),
    ] = None
    copies: Annotated[
        float | None, Option(help="Share of copies (mini 0.04, prism 0).", rich_help_panel=MIXTURE)
    ] = None
    joined: Annotated[
        float | None,
        Option(
            help="Share of pairs concatenated with another pair (mini 0.1, prism 0).",
            rich_help_panel=MIXTURE,
        ),
    ] = None
    joined_tokens: Annotated[
        int | None,
        Option(
            min=8,
            help="Join several pairs, up to this many tokens. Default: two pairs.",
            rich_help_panel=MIXTURE,
        ),
    ] = None
    names: Annotated[
        float | None,
        Option(
            help="Share of pairs whose names and numbers are replaced by random ones (0).",
            rich_help_panel=MIXTURE,
        ),
    ] = None
    temperature: Annotated[
        float | None,
        Option(
            help="1 (prism): proportional to size; higher (mini 1.5): directions more even.",
            rich_help_panel=MIXTURE,
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        Option(min=1, help="Longer sentences are not trained on.", rich_help_panel=MIXTURE),
    ] = None


@dataclass(frozen=True)
class LossOptions:
    """The loss of translation models."""

    ranking: Annotated[
        float | None,
        Option(
            help="Weight of a translation-ranking loss on sentence vectors (0).",
            rich_help_panel=UPDATES,
        ),
    ] = None
    contrast: Annotated[
        float | None,
        Option(
            help="Weight of a loss that makes wrong targets less probable than right ones (0).",
            rich_help_panel=UPDATES,
        ),
    ] = None
    dropout: Annotated[float | None, Option(help="Dropout.", rich_help_panel=UPDATES)] = None
    label_smoothing: Annotated[
        float | None, Option(help="Label smoothing (0.1).", rich_help_panel=UPDATES)
    ] = None
    optimizer: Annotated[
        str | None,
        Option(help="adamw, or muon for the matrices of layers (adamw).", rich_help_panel=UPDATES),
    ] = None
    schedule: Annotated[
        str | None,
        Option(
            help="The rate after warm-up: constant (mini) or inverse-sqrt (prism).",
            rich_help_panel=UPDATES,
        ),
    ] = None
    clip_norm: Annotated[
        float | None,
        Option("--clip", help="Largest norm of the gradients; 0: any.", rich_help_panel=UPDATES),
    ] = None
    batch_tokens: Annotated[
        int | None, Option(min=1, help="Target tokens per batch.", rich_help_panel=UPDATES)
    ] = None


@dataclass(frozen=True)
class UpdateOptions:
    """How the weights are updated, for all kinds of models."""

    peak_rate: Annotated[
        float | None, Option("--rate", help="The peak learning rate.", rich_help_panel=UPDATES)
    ] = None
    warmup_steps: Annotated[
        int | None, Option(min=0, help="Steps of linear warm-up.", rich_help_panel=UPDATES)
    ] = None
    weight_decay: Annotated[
        float | None, Option(min=0, help="Of AdamW.", rich_help_panel=UPDATES)
    ] = None
    accumulate: Annotated[
        int | None, Option(min=1, help="Batches per update.", rich_help_panel=UPDATES)
    ] = None
    seed: Annotated[
        int | None, Option(min=0, help="The random seed (1).", rich_help_panel=UPDATES)
    ] = None


@dataclass(frozen=True)
class PaceOptions:
    """How long to train, and how often to save and report."""

    steps: Steps = None
    save_minutes: Annotated[
        float, Option(help="Minutes between checkpoints.", rich_help_panel=PACE)
    ] = 10.0
    save_steps: Annotated[
        int | None, Option(min=1, help="Steps between checkpoints.", rich_help_panel=PACE)
    ] = None
    keep: Annotated[
        int, Option(min=1, help="How many checkpoints to keep.", rich_help_panel=PACE)
    ] = 5
    log_steps: Annotated[
        int, Option(min=1, help="Steps between lines of the log.", rich_help_panel=PACE)
    ] = 50


@dataclass(frozen=True)
class ModelPaceOptions(PaceOptions):
    """The same for translation models."""

    decay_steps: Annotated[
        int | None,
        Option(
            min=1,
            help="Decay the rate to 0: at the end of --steps, or from now on.",
            rich_help_panel=PACE,
        ),
    ] = None
    dev_steps: Annotated[
        int, Option(min=1, help="Steps between evaluations.", rich_help_panel=PACE)
    ] = 500
    dev_sentences: Annotated[
        int,
        Option(min=0, help="Sentences per direction to translate for chrF.", rich_help_panel=PACE),
    ] = 20


@dataclass(frozen=True)
class DetectorPaceOptions(PaceOptions):
    """The same for detectors, which train for a number of epochs."""

    steps: Annotated[
        int | None,
        Option(
            "--stop-at", min=1, help="Pause at this step, to resume later.", rich_help_panel=PACE
        ),
    ] = None
    keep: Annotated[
        int, Option(min=1, help="How many checkpoints to keep.", rich_help_panel=PACE)
    ] = 2
    log_steps: Annotated[
        int, Option(min=1, help="Steps between lines of the log.", rich_help_panel=PACE)
    ] = 20


@dataclass(frozen=True)
class MachineOptions:
    """On what the training runs."""

    threads: Annotated[int, Option(min=1, help="Threads per process.")] = 1
    device: Annotated[str, Option(help="cpu, cuda, or auto: a GPU if there is one.")] = "auto"
    precision: Annotated[
        str | None,
        Option(help="float32, bf16 or fp16. Default: that of the run, at first float32."),
    ] = None
    quiet: Annotated[bool, Option("--quiet", "-q", help="Show no progress bar.")] = False


@dataclass(frozen=True)
class DetectorDataOptions:
    """What a detector is trained on, and from which encoder."""

    train: Annotated[
        list[str] | None,
        Option(
            help="LANG=FILE: pairs to train on (columns sentence1, sentence2, label); repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None
    dev: Annotated[
        list[str] | None,
        Option(
            help="LANG=FILE: pairs to choose the best checkpoint by; repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None
    test: Annotated[
        list[str] | None,
        Option(
            help="LANG=FILE: pairs for the final table of results; repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = None
    init: Annotated[
        str | None,
        Option(
            help="A Hugging Face folder with an encoder, or the name of one that a package "
            "contains, such as all-MiniLM-L6-v2. Default: a small encoder with random weights."
        ),
    ] = None
    layers: Annotated[
        int | None, Option(min=1, help="Layers, without --init (2).", rich_help_panel=SIZES)
    ] = None
    width: Annotated[
        int | None, Option(min=8, help="Hidden size, without --init (128).", rich_help_panel=SIZES)
    ] = None
    vocabulary: Annotated[
        int | None, Option(min=10, help="Tokens, without --init (8000).", rich_help_panel=SIZES)
    ] = None

    def plan(self, given: Mapping[str, Any]) -> DetectorPlan:
        """The plan of a new run, with the settings that are given."""
        from tertium.training.detector.plan import DetectorPlan, DetectorRecipe, Scratch

        scratch = fields_of(given, Scratch)
        if self.init is not None and scratch:
            raise SettingError(f"--init sets the sizes; leave out {flags(scratch)}")
        is_folder = self.init is not None and Path(self.init).is_dir()
        return DetectorPlan(
            train=_pair_files("--train", self.train or []),
            dev=_pair_files("--dev", self.dev or []),
            test=_pair_files("--test", self.test or []),
            init=_absolute(self.init) if is_folder else self.init,
            recipe=DetectorRecipe(**fields_of(given, DetectorRecipe)),
            scratch=Scratch(**scratch),
            seed=given.get("seed", 1),
        )


@dataclass(frozen=True)
class FineTuningOptions:
    """How an encoder is fine-tuned."""

    epochs: Annotated[
        float | None, Option(help="Number of epochs (10).", rich_help_panel=UPDATES)
    ] = None
    batch_size: Annotated[
        int | None, Option(min=1, help="Pairs per batch (32).", rich_help_panel=UPDATES)
    ] = None
    max_tokens: Annotated[
        int | None,
        Option(
            "--max-tokens",
            "--max-pieces",
            min=8,
            help="Tokens per pair (128).",
            rich_help_panel=UPDATES,
        ),
    ] = None
    dev_steps: Annotated[
        int | None,
        Option(min=1, help="Steps between evaluations (500).", rich_help_panel=PACE),
    ] = None
    both_orders: Annotated[
        bool | None,
        Option(
            "--both-orders",
            help="Also train on each pair in reverse order.",
            rich_help_panel=UPDATES,
        ),
    ] = None


def given_in(*groups: Any) -> dict[str, Any]:
    """The settings that are given, of several groups."""
    values = [
        (field.name, getattr(group, field.name)) for group in groups for field in fields(group)
    ]
    return {name: value for name, value in values if value not in (None, [])}


def fields_of(given: Mapping[str, Any], *kinds: Any) -> dict[str, Any]:
    """Those of the settings that are fields of one of these dataclasses."""
    names = {field.name for kind in kinds for field in fields(kind)}
    return {name: value for name, value in given.items() if name in names}


def _absolute(path: str | Path | None) -> str | None:
    """Make a path absolute, so that the run can be resumed from any folder."""
    return None if path is None else str(Path(path).expanduser().absolute())


def _split(option: str, form: str, text: str) -> tuple[str, str]:
    before, equals, after = text.partition("=")
    if not equals:
        raise SettingError(f"{option} {text}: must have the form {form}")
    return before, after


def _pair_files(option: str, given: list[str]) -> tuple[tuple[str, str], ...]:
    files = [_split(option, "LANG=FILE", text) for text in given]
    return tuple((lang, str(_absolute(file))) for lang, file in files)


def _named_file(option: str) -> tuple[str, str]:
    name, equals, file = option.partition("=")
    if not equals or Path(option).is_file():
        return "", str(_absolute(option))
    return name, str(_absolute(file))


def _file_and_weight(option: str) -> tuple[str, float]:
    file, equals, weight = option.rpartition("=")
    if not equals:
        return str(_absolute(option)), 1.0
    try:
        return str(_absolute(file)), float(weight)
    except ValueError:
        raise SettingError(f"--bitext {option}: {weight!r} is not a weight") from None

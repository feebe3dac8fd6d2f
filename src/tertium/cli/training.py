"""The options of ``tertium train``, in groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from typer import Option

from tertium.cli.commands import flags
from tertium.cli.options import INPUT, option
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

    bitext: list[str] | None = option(
        None, "A TSV file (plain, .gz, .xz), or FILE=WEIGHT; repeatable.", panel=INPUT
    )
    languages: str | None = option(None, "The languages, such as en,de,fr.", "--langs", panel=INPUT)
    columns: list[str] | None = option(
        None, "NAME=LANG: the language of a column; repeatable.", "--column", panel=INPUT
    )
    dev: list[str] | None = option(
        None, "A development set to evaluate on; NAME=FILE if there are several.", panel=INPUT
    )
    recipe: str | None = option(
        None, "mini (default), mini-encoder, prism, parabank2, lm or scaling."
    )
    init: Path | None = option(None, "A Hugging Face folder (M2M100) to start from.")
    grow: bool | None = option(
        None, "Add layers and width to --init, up to the recipe's, that add nothing at first."
    )
    spm: Path | None = option(None, "A SentencePiece model to use.")

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

    panel: ClassVar[str] = SIZES

    vocabulary: int | None = option(None, "Number of tokens.", min=1)
    d_model: int | None = option(None, "Width of the network.", "--width", min=1)
    ffn: int | None = option(None, "Of its inner layers.", "--inner-width", min=1)
    encoder_layers: int | None = option(None, "Layers of the encoder.", min=1)
    decoder_layers: int | None = option(None, "Layers of the decoder.", min=1)
    heads: int | None = option(None, "Attention heads; they share --width.", min=1)


@dataclass(frozen=True)
class MixtureOptions:
    """The shares of the kinds of pairs."""

    panel: ClassVar[str] = MIXTURE

    paraphrases: float | None = option(None, "Share of pivot paraphrases (mini 0.15, prism 0).")
    copies: float | None = option(None, "Share of copies (mini 0.04, prism 0).")
    joined: float | None = option(
        None, "Share of pairs concatenated with another pair (mini 0.1, prism 0)."
    )
    joined_tokens: int | None = option(
        None, "Join several pairs, up to this many tokens. Default: two pairs.", min=8
    )
    names: float | None = option(
        None, "Share of pairs whose names and numbers are replaced by random ones (0)."
    )
    temperature: float | None = option(
        None, "1 (prism): proportional to size; higher (mini 1.5): directions more even."
    )
    max_tokens: int | None = option(None, "Longer sentences are not trained on.", min=1)


@dataclass(frozen=True)
class LossOptions:
    """The loss of translation models."""

    panel: ClassVar[str] = UPDATES

    ranking: float | None = option(
        None, "Weight of a translation-ranking loss on sentence vectors (0)."
    )
    contrast: float | None = option(
        None, "Weight of a loss that makes wrong targets less probable than right ones (0)."
    )
    dropout: float | None = option(None, "Dropout.")
    label_smoothing: float | None = option(None, "Label smoothing (0.1).")
    optimizer: str | None = option(None, "adamw, or muon for the matrices of layers (adamw).")
    schedule: str | None = option(
        None, "The rate after warm-up: constant (mini) or inverse-sqrt (prism)."
    )
    clip_norm: float | None = option(None, "Largest norm of the gradients; 0: any.", "--clip")
    batch_tokens: int | None = option(None, "Target tokens per batch.", min=1)


@dataclass(frozen=True)
class UpdateOptions:
    """How the weights are updated, for all kinds of models."""

    panel: ClassVar[str] = UPDATES

    peak_rate: float | None = option(None, "The peak learning rate.", "--rate")
    warmup_steps: int | None = option(None, "Steps of linear warm-up.", min=0)
    weight_decay: float | None = option(None, "Of AdamW.", min=0)
    accumulate: int | None = option(None, "Batches per update.", min=1)
    seed: int | None = option(None, "The random seed (1).", min=0)


@dataclass(frozen=True)
class PaceOptions:
    """How long to train, and how often to save and report."""

    panel: ClassVar[str] = PACE

    steps: Steps = None
    save_minutes: float = option(10.0, "Minutes between checkpoints.")
    save_steps: int | None = option(None, "Steps between checkpoints.", min=1)
    keep: int = option(5, "How many checkpoints to keep.", min=1)
    log_steps: int = option(50, "Steps between lines of the log.", min=1)


@dataclass(frozen=True)
class ModelPaceOptions(PaceOptions):
    """The same for translation models."""

    panel: ClassVar[str] = PACE

    decay_steps: int | None = option(
        None, "Decay the rate to 0: at the end of --steps, or from now on.", min=1
    )
    dev_steps: int = option(500, "Steps between evaluations.", min=1)
    dev_sentences: int = option(20, "Sentences per direction to translate for chrF.", min=0)


@dataclass(frozen=True)
class DetectorPaceOptions(PaceOptions):
    """The same for detectors, which train for a number of epochs."""

    panel: ClassVar[str] = PACE

    steps: int | None = option(None, "Pause at this step, to resume later.", "--stop-at", min=1)
    keep: int = option(2, "How many checkpoints to keep.", min=1)
    log_steps: int = option(20, "Steps between lines of the log.", min=1)


@dataclass(frozen=True)
class MachineOptions:
    """On what the training runs."""

    threads: int = option(1, "Threads per process.", min=1)
    device: str = option("auto", "cpu, cuda, or auto: a GPU if there is one.")
    precision: str | None = option(
        None, "float32, bf16 or fp16. Default: that of the run, at first float32."
    )
    quiet: bool = option(False, "Show no progress bar.", "--quiet", "-q")


@dataclass(frozen=True)
class DetectorDataOptions:
    """What a detector is trained on, and from which encoder."""

    train: list[str] | None = option(
        None,
        "LANG=FILE: pairs to train on (columns sentence1, sentence2, label); repeatable.",
        panel=INPUT,
    )
    dev: list[str] | None = option(
        None, "LANG=FILE: pairs to choose the best checkpoint by; repeatable.", panel=INPUT
    )
    test: list[str] | None = option(
        None, "LANG=FILE: pairs for the final table of results; repeatable.", panel=INPUT
    )
    init: str | None = option(
        None,
        "A Hugging Face folder with an encoder, or the name of one that a package "
        "contains, such as all-MiniLM-L6-v2. Default: a small encoder with random weights.",
    )
    layers: int | None = option(None, "Layers, without --init (2).", panel=SIZES, min=1)
    width: int | None = option(None, "Hidden size, without --init (128).", panel=SIZES, min=8)
    vocabulary: int | None = option(None, "Tokens, without --init (8000).", panel=SIZES, min=10)

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

    epochs: float | None = option(None, "Number of epochs (10).", panel=UPDATES)
    batch_size: int | None = option(None, "Pairs per batch (32).", panel=UPDATES, min=1)
    max_tokens: int | None = option(
        None, "Tokens per pair (128).", "--max-tokens", "--max-pieces", panel=UPDATES, min=8
    )
    dev_steps: int | None = option(None, "Steps between evaluations (500).", panel=PACE, min=1)
    both_orders: bool | None = option(
        None, "Also train on each pair in reverse order.", panel=UPDATES
    )


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

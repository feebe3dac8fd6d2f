"""What a translation model is trained on and how: the plan, its recipe and its mixture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

from tertium.errors import SettingError
from tertium.training.plan import BasePlan, Updates, wrong

Network = Literal["translation", "language"]
ADAMW, MUON = "adamw", "muon"
OPTIMIZERS = (ADAMW, MUON)
CHANGES = "changes"
"""Recorded in the plan of a run: what differs from its recipe."""


@dataclass(frozen=True, slots=True)
class Recipe(Updates):
    """An architecture with tied embeddings, and the settings that suit its size."""

    name: str
    d_model: int
    ffn: int
    encoder_layers: int
    decoder_layers: int
    heads: int
    vocabulary: int
    dropout: float
    batch_tokens: int
    """Approximate number of target tokens per batch."""
    label_smoothing: float = 0.1
    ranking: float = 0.0
    """Weight of the translation-ranking loss of sentence vectors."""
    contrast: float = 0.0
    """Weight of the loss that makes wrong targets less probable than right ones."""
    max_tokens: int = 128
    """Longer sentences are not trained on."""
    max_positions: int = 512
    vocabulary_sentences: int = 2_000_000
    """Sentences that the vocabulary is made from: a random sample of all files."""
    optimizer: str = ADAMW
    """AdamW; or Muon for the matrices of layers, and AdamW for embeddings, biases and norms."""
    network: Network = "translation"
    """M2M100, or a causal language model (GPT-2), which has decoder layers only."""

    def __post_init__(self) -> None:
        self.check_schedule()
        if self.d_model % self.heads:
            raise SettingError(
                f"a width of {self.d_model} cannot be divided among {self.heads} heads",
                cure="change {d_model} or {heads}",
            )
        if self.optimizer not in OPTIMIZERS:
            raise wrong("optimizer", self.optimizer, f"must be {' or '.join(OPTIMIZERS)}")
        if self.network not in get_args(Network):
            raise SettingError(f"unknown network {self.network!r}")
        if self.is_language_model and (self.encoder_layers or self.ranking or self.contrast):
            raise SettingError(
                "a language model reads no source: it has no encoder layers, no ranking and no "
                "contrast"
            )
        if not 0 <= self.dropout < 1:
            raise wrong("dropout", self.dropout, "must be at least 0 and below 1")
        if self.clip_norm < 0:
            raise wrong("clip_norm", self.clip_norm, "must not be negative")

    @property
    def is_language_model(self) -> bool:
        return self.network == "language"


@dataclass(frozen=True, slots=True)
class Mixture:
    """The shares of the kinds of pairs, and how much small directions are upsampled."""

    paraphrases: float = 0.15
    copies: float = 0.04
    joined: float = 0.1
    """The share of pairs that are concatenated with another pair, to train on longer texts."""
    temperature: float = 1.5
    """1 samples all pairs equally often; higher values even out the directions."""
    names: float = 0.0
    """The share of pairs whose names and numbers are replaced by random ones."""
    joined_tokens: int | None = None
    """The longest text made by joining several pairs; None joins two, up to ``max_tokens``."""

    def __post_init__(self) -> None:
        shares = (self.paraphrases, self.copies, self.names, self.joined)
        if min(shares) < 0 or sum(shares[:3]) >= 1 or self.joined > 1:
            raise SettingError(
                "the shares of paraphrases, copies, names and joined pairs must be between 0 and "
                "1, and paraphrases, copies and names together below 1"
            )
        if self.temperature < 1:
            raise SettingError(f"the temperature must be 1 or more, not {self.temperature}")


POSITIONS_BESIDE = 2
"""Positions of a target that its tokens do not have: end and tag."""
ZERO_SHOT = Mixture(paraphrases=0.0, copies=0.0, joined=0.0, temperature=1.0)
"""Bitext only, as it is: two texts of one language are never seen together (Prism, section 4.1)."""
MINI = Recipe(
    "mini",
    d_model=320,
    ffn=1280,
    encoder_layers=6,
    decoder_layers=2,
    heads=5,
    vocabulary=12_000,
    dropout=0.0,
    peak_rate=1e-3,
    warmup_steps=1_000,
    batch_tokens=4_000,
    accumulate=1,
    vocabulary_sentences=1_000_000,
)
PRISM = Recipe(
    "prism",
    d_model=1280,
    ffn=12_288,
    encoder_layers=8,
    decoder_layers=8,
    heads=20,
    vocabulary=64_000,
    dropout=0.1,
    peak_rate=4e-4,
    warmup_steps=4_000,
    schedule="inverse-sqrt",
    batch_tokens=1_800,
    accumulate=200,
    weight_decay=0.0,
    clip_norm=1.2,
    max_tokens=200,
    max_positions=1024,
)
"""Thompson and Post (2020), C.1. The paper does not give warm-up, schedule, smoothing and weight
decay; these are what fairseq's own recipes for translation have, and its default of no decay."""
PARABANK2 = Recipe(
    "parabank2",
    d_model=1024,
    ffn=4096,
    encoder_layers=8,
    decoder_layers=8,
    heads=16,
    vocabulary=16_000,
    dropout=0.3,
    peak_rate=5e-4,
    warmup_steps=4_000,
    schedule="inverse-sqrt",
    batch_tokens=7_800,
    accumulate=4,
    weight_decay=0.0,
    clip_norm=0.0,
    max_tokens=200,
    max_positions=1024,
)
"""C.2: 31 200 tokens per update, on four GPUs. Length, clipping and the rest as for ``PRISM``, or
the defaults of fairseq."""
LM = Recipe(
    "lm",
    network="language",
    d_model=1024,
    ffn=4096,
    encoder_layers=0,
    decoder_layers=24,
    heads=16,
    vocabulary=64_000,
    dropout=0.1,
    label_smoothing=0.0,
    peak_rate=5e-4,
    warmup_steps=4_000,
    schedule="inverse-sqrt",
    batch_tokens=2_048,
    accumulate=64,
    weight_decay=0.01,
    clip_norm=0.0,
    max_tokens=200,
    max_positions=512,
)
"""C.3: fairseq's ``transformer_lm_gpt2_small``, 131 000 tokens per update, one sentence at a time.
Vocabulary and length as for ``PRISM``; dropout, warm-up, schedule, weight decay, clipping and the
division of an update into batches are those of fairseq's recipe for language models."""
SCALING = Recipe(
    "scaling",
    d_model=1024,
    ffn=4096,
    encoder_layers=6,
    decoder_layers=6,
    heads=16,
    vocabulary=32_000,
    dropout=0.3,
    peak_rate=1e-3,
    warmup_steps=4_000,
    schedule="inverse-sqrt",
    batch_tokens=7_168,
    accumulate=8,
    weight_decay=0.0,
    clip_norm=0.0,
    max_tokens=200,
    max_positions=1024,
)
"""Scaling NMT WMT16 of Shankar (2020), 4.2.2, after Ott et al. (2018), a "big" transformer. Length,
clipping and weight decay are not given; they are as for ``PARABANK2``."""
MINI_ENCODER = replace(MINI, name="mini-encoder", ranking=0.1)
"""Its encoder gives sentence vectors: the mean of its states."""
RECIPES = {recipe.name: recipe for recipe in (MINI, MINI_ENCODER, PRISM, PARABANK2, LM, SCALING)}
MIXTURES = {
    MINI.name: Mixture(),
    MINI_ENCODER.name: Mixture(),
    PRISM.name: ZERO_SHOT,
    PARABANK2.name: ZERO_SHOT,
    LM.name: ZERO_SHOT,
    SCALING.name: ZERO_SHOT,
}
"""The mixture of each recipe."""


def get_recipe(name: str) -> Recipe:
    """Look up a recipe by name."""
    try:
        return RECIPES[name]
    except KeyError:
        raise SettingError(f"unknown recipe {name!r}; available: {', '.join(RECIPES)}") from None


@dataclass(frozen=True, slots=True)
class Plan(BasePlan):
    """Everything that determines the weights, given the number of steps and the decay."""

    command: ClassVar[str] = "tertium train model"

    languages: tuple[str, ...]
    bitext: tuple[tuple[str, float], ...]
    """Files, and the weight of their pairs."""
    columns: tuple[tuple[str, str], ...] = ()
    dev: tuple[tuple[str, str], ...] = ()
    """Names and files of development sets; a single one may have an empty name."""
    init: str | None = None
    """A Hugging Face folder to start from; its sizes and vocabulary replace the recipe's."""
    grow: bool = False
    """Add layers and inner width to ``init``, up to the recipe's, that change nothing at first."""
    spm: str | None = None
    recipe: Recipe = MINI
    mixture: Mixture = field(default_factory=Mixture)
    seed: int = 1

    @staticmethod
    def upgrade(content: dict[str, Any]) -> dict[str, Any]:
        """In version 1, ``dev`` was one file or null."""
        dev = content.get("dev")
        if dev is None or isinstance(dev, str):
            content = {**content, "dev": [["", dev]] if dev else []}
        return {name: value for name, value in content.items() if name != CHANGES}

    def remarks(self) -> dict[str, Any]:
        """Return the settings that are not those of the recipe, each with the recipe's value."""
        return {CHANGES: self.changes}

    @property
    def changes(self) -> dict[str, dict[str, Any]]:
        """The settings that differ from the recipe, with the value of each in both."""
        if self.recipe.name not in RECIPES:
            return {}
        ours: Mapping[str, Any] = {**asdict(self.recipe), **asdict(self.mixture)}
        name = self.recipe.name
        original: Mapping[str, Any] = {**asdict(RECIPES[name]), **asdict(MIXTURES[name])}
        return {
            setting: {"recipe": original[setting], "here": value}
            for setting, value in ours.items()
            if value != original[setting]
        }

    def __post_init__(self) -> None:
        if not self.languages:
            raise SettingError(
                "there are no languages",
                cure="give {languages:en,de}, for example; a single one for pairs of paraphrases",
            )
        if not self.bitext:
            raise SettingError("there are no files to train on", cure="give {bitext}")
        if self.init is not None and self.spm is not None:
            raise SettingError(
                "the model to start from has its own vocabulary", cure="leave out {spm}"
            )
        names = [name for name, _ in self.dev]
        if len(set(names)) < len(names):
            raise SettingError(
                "two development sets have the same name", cure="name each with {dev:NAME=FILE}"
            )
        if self.grow and self.init is None:
            raise SettingError(
                "there is nothing to grow", cure="give a model to start from with {init}"
            )
        if self.recipe.is_language_model:
            if self.init is not None:
                raise SettingError("a language model starts from random weights, not from a model")
            if self.mixture.paraphrases or self.mixture.copies or self.mixture.names:
                raise SettingError(
                    "a language model is trained on sentences, not on pairs: the shares of "
                    "paraphrases, copies and names must be 0"
                )
        if self.recipe.ranking < 0:
            raise wrong("ranking", self.recipe.ranking, "must not be negative")
        if self.recipe.contrast < 0:
            raise wrong("contrast", self.recipe.contrast, "must not be negative")
        longest = min(self.recipe.max_positions - POSITIONS_BESIDE, self.recipe.batch_tokens // 2)
        if (self.mixture.joined_tokens or 0) > longest:
            raise wrong(
                "joined_tokens",
                self.mixture.joined_tokens,
                f"must be at most {longest}, half of the tokens per batch and within the positions "
                "of the model",
            )

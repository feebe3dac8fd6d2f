"""From names and options to measures with their models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tertium.errors import SettingError
from tertium.measures.registry import ROLES, kinds_of, load, load_any, settings_of
from tertium.measures.settings import parse_setting
from tertium.models.cache.memo import Tally
from tertium.models.catalog import DEFAULT_MODEL

if TYPE_CHECKING:
    from tertium.measures.base import Measure, ModelKind
    from tertium.models.cache.memo import Memo


@dataclass
class Models:
    """The models that were named, each loaded once, when a measure first asks for its kind."""

    model: str = DEFAULT_MODEL
    encoder: str | None = None
    sentence_encoder: str | None = None
    layer: int | None = None
    compute_type: str = "auto"
    threads: int | None = None
    cache: bool | Path = True
    loaded: dict[ModelKind, Any] = field(default_factory=dict)

    @property
    def translation(self) -> Memo | None:
        """The translation model, if any measure has asked for it."""
        return self.loaded.get("translation")

    def get(self, kind: ModelKind) -> Any:
        if kind not in self.loaded:
            self.loaded[kind] = self._load(kind)
        return self.loaded[kind]

    def _load(self, kind: ModelKind) -> Any:
        name, layer = self.model, self.layer
        if kind != "translation":
            name = self.encoder or self.model
        if kind == "sentences" and self.sentence_encoder:
            name, layer = self.sentence_encoder, None
        return load_any(
            kind,
            name,
            layer,
            cache=self.cache,
            compute_type=self.compute_type,
            threads=self.threads,
        )


def load_measures(
    names: Sequence[str],
    models: Models,
    given: Mapping[str, object],
    more: Sequence[str] = (),
) -> list[Measure]:
    """Give each measure the settings that it has; one that none of them has is a mistake.

    ``given`` are options with names of their own (None if not said), ``more`` those of ``--set``.
    """
    wanted = {name: value for name, value in given.items() if value is not None}
    spelt = dict(_split(setting) for setting in more)
    for setting in [*wanted, *spelt]:
        if not any(setting in settings_of(name) for name in names):
            option = f"--set {setting}" if setting in spelt else f"--{setting.replace('_', '-')}"
            known = sorted({key for name in names for key in settings_of(name)})
            raise SettingError(
                f"{option} does not concern {', '.join(names)}; "
                f"the settings are {', '.join(known) or 'none'}"
            )
    measures = []
    for name in names:
        own: dict[str, Any] = {}
        for setting, default in settings_of(name).items():
            if setting in wanted:
                own[setting] = wanted[setting]
            if setting in spelt:
                own[setting] = parse_setting(setting, spelt[setting], default)
        loaded = {ROLES[kind]: models.get(kind) for kind in kinds_of(name)}
        measures.append(load(name, **loaded, **own))
    return measures


@dataclass(frozen=True)
class MeasureLoader:
    """Loads measures as they were asked for, in this process or in another."""

    names: Sequence[str]
    models: Models
    given: Mapping[str, object]
    more: Sequence[str] = ()

    def here(self) -> list[Measure]:
        """Load them for this process; :attr:`models` then has the models."""
        return load_measures(self.names, self.models, self.given, self.more)

    def __call__(self, threads: int) -> tuple[list[Measure], Tally]:
        """Load them for a worker, with a count of the questions that it asks."""
        models = replace(self.models, threads=threads, loaded={})
        measures = load_measures(self.names, models, self.given, self.more)
        memo = models.translation
        return measures, Tally() if memo is None else memo.tally

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave behind the models that are loaded."""
        models = replace(self.models, loaded={})
        return MeasureLoader, (self.names, models, self.given, self.more)


def _split(setting: str) -> tuple[str, str]:
    name, equals, value = setting.partition("=")
    if not equals:
        raise SettingError(f"--set {setting}: say it as --set NAME=VALUE")
    return name.strip().replace("-", "_"), value.strip()

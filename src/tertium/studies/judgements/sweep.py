"""One setting of measures over a range of values: agreement with people as a curve.

Figure 5 of the Prism paper sweeps the weight alpha between two directions, or between a cosine and
a language model, with H and with G.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tertium.errors import SettingError
from tertium.measures.loading import MeasureSpec, known_settings, parse_setting
from tertium.report.plots import lines
from tertium.report.tables import Cell, Table
from tertium.studies.columns import Column
from tertium.studies.report import Figure, file_name

ALPHAS = "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"
"""The values of a weight, unless others are given."""


RANGE = re.compile(r"(\d+)-(\d+)")


@dataclass(frozen=True)
class Variant:
    """A measure with one value of the setting."""

    base: MeasureSpec
    value: str
    spec: MeasureSpec


@dataclass(frozen=True)
class Sweep:
    """A setting, its values, and the measures that have it."""

    setting: str
    values: tuple[str, ...]
    variants: tuple[Variant, ...]

    @classmethod
    def parse(
        cls,
        text: str,
        specs: Sequence[MeasureSpec],
        deepest: Callable[[MeasureSpec], int] | None = None,
    ) -> Sweep:
        """Read a setting with its values: ``beta=1,2,3``, or ``layer=8-12`` for whole numbers.

        ``alpha`` and ``layer`` need no values; ``deepest`` tells the layers of a measure's encoder.
        """
        setting, equals, values = text.partition("=")
        setting = setting.strip().replace("-", "_")
        if not equals:
            having = [spec for spec in specs if setting in known_settings(spec.measure)]
            if setting == "layer" and having and deepest is not None:
                values = f"1-{max(map(deepest, having))}"
            elif setting == "alpha":
                values = ALPHAS
            else:
                raise cls._wrong(text, f"there are no values, as in {setting}=1,2,3")
        written = tuple(
            each for value in values.split(",") if value.strip() for each in _range(value.strip())
        )
        if len(written) < 2 or len(set(written)) < len(written):
            raise cls._wrong(text, "there must be at least two different values")
        variants = []
        for spec in specs:
            known = known_settings(spec.measure)
            if setting not in known:
                continue
            if setting in spec.settings:
                raise cls._wrong(text, f"{spec} has {setting} already, which is to be varied")
            for value in written:
                own = {setting: parse_setting(setting, value, known[setting].default)}
                variants.append(
                    Variant(spec, value, replace(spec, settings={**spec.settings, **own}, label=""))
                )
        if not variants:
            names = ", ".join(str(spec) for spec in specs)
            verb = "has" if len(specs) == 1 else "have"
            raise cls._wrong(text, f"{names} {verb} no setting {setting}")
        return cls(setting, written, tuple(variants))

    @staticmethod
    def _wrong(text: str, why: str) -> SettingError:
        return SettingError(why, parameter="sweep", value=text)

    def specs(self, specs: Sequence[MeasureSpec]) -> list[MeasureSpec]:
        """All measures to be scored: the variants, and those that do not have the setting."""
        swept = {str(variant.base) for variant in self.variants}
        return [
            *(spec for spec in specs if str(spec) not in swept),
            *(variant.spec for variant in self.variants),
        ]

    def series(self, names: Sequence[str]) -> dict[str, dict[str, str]]:
        """By measure (and direction), then by value: the name under which it was scored."""
        found: dict[str, dict[str, str]] = {}
        for variant in self.variants:
            scored = str(variant.spec)
            for name in names:
                if name == scored or name.startswith(f"{scored} "):
                    label = f"{variant.base}{name.removeprefix(scored)}"
                    found.setdefault(label, {})[variant.value] = name
        return found

    def without(self, column: Column) -> Column:
        """The measures that were not swept."""
        swept = {
            name for names in self.series(list(column.values)).values() for name in names.values()
        }
        kept = [name for name in column.values if name not in swept]
        return replace(
            column,
            values={name: column.values[name] for name in kept},
            replicates={name: column.replicates[name] for name in kept},
        )

    def table(self, columns: Sequence[Column], title: str) -> Table:
        """One row per value, one column per measure and dataset; the best of each column bold."""
        header, cells = [self.setting], [[Cell(value)] for value in self.values]
        counts = [Cell("n")]
        for column in columns:
            for label, names in self.series(list(column.values)).items():
                header.append(label if len(columns) == 1 else f"{label}, {column.heading}")
                counts.append(Cell(column.n, "d"))
                numbers = [column.values.get(names.get(value, "")) for value in self.values]
                best = max((x for x in numbers if x is not None), default=None)
                for row, number in zip(cells, numbers, strict=True):
                    row.append(Cell(number, ".3f", number is not None and number == best))
        if any(cell.value is not None for cell in counts[1:]):
            cells.append(counts)
        return Table(header, cells, f"{title}, by {self.setting}", "Bold, *: the highest value.")

    def figures(self, columns: Sequence[Column], name: str, title: str) -> dict[str, Figure]:
        """One figure per dataset, with a line for each measure."""
        return {
            file_name(f"{name}-{self.setting}-{column.heading}"): Figure(
                partial(self._draw, column, title),
                f"{title}, {column.heading}, by {self.setting}",
            )
            for column in columns
        }

    def _draw(self, column: Column, title: str, out: Path) -> None:
        series = {
            label: [column.values.get(names.get(value, "")) for value in self.values]
            for label, names in self.series(list(column.values)).items()
        }
        limits = {
            label: [column.limits(names.get(value, "")) for value in self.values]
            for label, names in self.series(list(column.values)).items()
        }
        lines(self.values, series, out, axes_labels=(self.setting, title), intervals=limits)


def _range(value: str) -> list[str]:
    """A value, or all whole numbers of a range.

    >>> _range("8-10"), _range("-1"), _range("0.5")
    (['8', '9', '10'], ['-1'], ['0.5'])
    """
    match = RANGE.fullmatch(value)
    return [value] if match is None else [str(n) for n in range(int(match[1]), int(match[2]) + 1)]

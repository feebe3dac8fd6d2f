"""Signatures: everything that must be known to get the same number again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tertium._version import __version__

ABBREVIATIONS = {
    "measure": "m",
    "model": "mod",
    "fingerprint": "fp",
    "precision": "p",
    "engine": "eng",
    "normalized": "norm",
    "directions": "dir",
    "base": "b",
    "aggregate": "agg",
    "pivot_lang": "piv",
    "target_lang": "tgt",
    "beam_size": "beam",
    "lang": "l",
    "reference_lang": "rl",
    "source_lang": "sl",
    "nrefs": "#",
    "references": "refs",
    "against": "vs",
    "case": "c",
    "tok": "tok",
    "smooth": "s",
    "version": "v",
}
"""Short names for the fields, as in sacrebleu's signatures."""
FINGERPRINT_DIGITS = 12
MIXED = "mixed"
"""What a signature says where rows or systems differ."""


@dataclass(frozen=True)
class Signature:
    """Every choice that can change the number, in order.

    >>> signature = Signature({"measure": "direct", "base": "e"})
    >>> print(signature)
    measure:direct|base:e|version:...
    >>> signature.short
    'm:direct|b:e|v:...'
    """

    choices: Mapping[str, str]

    @classmethod
    def common(cls, signatures: Sequence[Signature]) -> Signature:
        """The signature of several systems together; where they differ, it says ``mixed``.

        >>> Signature.common([Signature({"lang": "de"}), Signature({"lang": "en"})]).choices
        {'lang': 'mixed'}
        """
        first = signatures[0].choices
        return cls(
            {
                name: value
                if all(each.choices.get(name) == value for each in signatures)
                else MIXED
                for name, value in first.items()
            }
        )

    @property
    def long(self) -> str:
        """The signature with its fields written out."""
        return "|".join(f"{name}:{value}" for name, value in self._fields())

    @property
    def short(self) -> str:
        """The signature with its fields abbreviated."""
        return "|".join(
            f"{ABBREVIATIONS.get(name, name)}:{value}" for name, value in self._fields()
        )

    def __str__(self) -> str:
        return self.long

    def _fields(self) -> Iterator[tuple[str, str]]:
        yield from self.choices.items()
        yield "version", __version__


def spell(value: object) -> str:
    """Write a setting the way signatures do.

    >>> spell(True), spell(5), spell("e")
    ('yes', '5', 'e')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)

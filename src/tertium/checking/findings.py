"""What a check finds: rules, findings, and how severe they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tertium.data.l10n.strings import Translated
from tertium.data.records import shortened
from tertium.explanation.spans import SEVERITIES, Severity

RULES = {
    "empty": "the translation has only spaces",
    "missing": "a text of the source has no translation",
    "copied": "the translation is a copy of the source",
    "untranslated": "a part was left in the language of the source",
    "language": "the translation is in another language",
    "placeholder": "a placeholder is missing, changed or added",
    "markup": "a tag, an entity or an escape is missing, changed or added",
    "number": "the numbers differ",
    "unit": "the units or currencies differ",
    "date": "the dates differ",
    "name": "a name has no counterpart",
    "truncated": "the translation breaks off",
    "repetition": "words are repeated",
    "negation": "one side is negated, the other is not",
    "omission": "a part of the source has no counterpart",
    "addition": "a part of the translation has no counterpart",
    "unrelated": "the source does not explain the translation at all",
    "inconsistent": "the same source is translated in different ways",
    "term": "a term is not translated as the glossary has it",
    "length": "the translation is longer than allowed",
}
"""What each rule reports."""
WITH_MODEL = frozenset({"negation", "omission", "addition", "unrelated"})
"""Rules that ask a translation model."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is probably wrong with a translation, and where."""

    path: str
    line: int
    key: str
    rule: str
    severity: Severity
    message: str
    source: str = ""
    target: str = ""
    source_span: tuple[int, int] | None = None
    """The characters of the source that it is about."""
    target_span: tuple[int, int] | None = None
    source_lang: str | None = None
    target_lang: str | None = None

    @classmethod
    def of(
        cls,
        item: Translated,
        rule: str,
        severity: Severity,
        message: str,
        *,
        source: str | None = None,
        source_span: tuple[int, int] | None = None,
        target_span: tuple[int, int] | None = None,
    ) -> Finding:
        """A finding about a translation."""
        return cls(
            item.path.as_posix(),
            item.line,
            item.key,
            rule,
            severity,
            message,
            item.source if source is None else source,
            item.target,
            source_span,
            target_span,
            item.source_lang,
            item.target_lang,
        )

    @property
    def fingerprint(self) -> str:
        """What identifies the finding as long as the texts stay as they are, wherever they move."""
        parts = (self.path, self.key, self.rule, self.source, self.target)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:20]

    def to_dict(self) -> dict[str, Any]:
        """The finding as an object of JSON; spans are pairs of offsets in code points."""
        return {
            "path": self.path,
            "line": self.line,
            "key": self.key,
            "rule": self.rule,
            "severity": self.severity,
            "message": self.message,
            "source": self.source,
            "target": self.target,
            "source_span": self.source_span,
            "target_span": self.target_span,
            "source_lang": self.source_lang,
            "target_lang": self.target_lang,
            "fingerprint": self.fingerprint,
        }


NEVER = "never"
FAIL_ON = (*SEVERITIES, NEVER)
"""From which severity on a check fails."""


def at_least(findings: Iterable[Finding], severity: str) -> list[Finding]:
    """The findings of a severity or a higher one; none if it is ``never``."""
    lowest = FAIL_ON.index(severity)
    return [each for each in findings if SEVERITIES.index(each.severity) >= lowest]


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by file and line; of one place, the most severe first."""
    return sorted(
        findings,
        key=lambda each: (each.path, each.line, -SEVERITIES.index(each.severity), each.rule),
    )


def one_line(text: str, length: int = 60) -> str:
    """The beginning of a text, without its line breaks.

    >>> one_line("one\\ntwo three", 8)
    'one two…'
    """
    return shortened(" ".join(text.split()), length)

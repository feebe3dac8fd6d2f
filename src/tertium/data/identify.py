"""Language identification, with the model that is part of py3langid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from tertium.data.codes import letters_in, primary, scripts_of
from tertium.errors import ModelError
from tertium.storage.atomic import derived, sync
from tertium.storage.paths import identifiers_folder

FEWEST_LETTERS = 25
"""Texts with fewer letters are not identified: too many guesses would be wrong."""
FEWEST_SIGNS = 8
"""The same for scripts whose letters are syllables or words."""
DENSE = frozenset({"Jpan", "Kore", "Hans", "Hant"})
CONFIDENT = 0.7
"""The probability from which a guess counts. On 6 300 sentences in 68 languages of Tatoeba with at
least 25 letters, 89 % of the guesses are as probable as this, and two of them are wrong (besides 37
Slovak sentences that the corpus calls Slovene)."""
JOINED_LETTERS = 50
"""Shorter texts are joined until they have so many letters. Of 5 774 such groups of sentences of
Tatoeba, the guess for 5 466 is as probable as this; 83 guesses differ from the corpus, all of them
Slovak where it says Slovene (it has Slovak sentences there)."""
FOREIGN = 0.75
"""A text is in another script if so large a share of its letters is; names are often foreign."""
SCRIPT_LETTERS = 4
"""From so many letters on, a text in a foreign script is not in the language."""
KINDRED = (
    frozenset({"da", "nb", "nn", "no"}),
    frozenset({"bs", "hr", "sh", "sr"}),
    frozenset({"id", "ms"}),
    frozenset({"wuu", "yue", "zh"}),
    frozenset({"ar", "ary", "arz"}),
)
"""Languages that identification confuses; a text in one of them may be in another."""


class Guess(NamedTuple):
    """The most probable language (ISO 639) of a text, and its probability."""

    lang: str
    probability: float


@lru_cache(maxsize=1 << 14)
def identify(text: str) -> Guess | None:
    """Identify the language of a text; None if the text is too short.

    >>> identify("Where did you learn to speak French so well?").lang, identify("Hi!")
    ('en', None)
    """
    dense, letters = letters_in(text, DENSE)
    if letters < FEWEST_LETTERS and dense < FEWEST_SIGNS:
        return None
    lang, probability = _identifier().classify(text)
    return Guess(str(lang), float(probability))


def confident_guess(text: str) -> str | None:
    """The language of a text, if identification is sure enough."""
    guess = identify(text)
    return guess.lang if guess is not None and guess.probability >= CONFIDENT else None


def guess_among(text: str, langs: Collection[str]) -> Guess | None:
    """The most probable of some languages; None if a text has no letters, or none is identifiable.

    Also for short texts: few languages to choose from leave less room for errors. The probability
    is that among the given languages, and the code is one of theirs.

    >>> guess_among("I see a dog.", ["de", "eng"]), guess_among("?!", ["de", "en"])
    (Guess(lang='eng', probability=0.99...), None)
    """
    if not any(map(str.isalpha, text)):
        return None
    probabilities = {str(lang): float(value) for lang, value in _identifier().rank(text)}
    found = {lang: probabilities.get(primary(lang), 0.0) for lang in sorted(langs)}
    total = sum({primary(lang): probability for lang, probability in found.items()}.values())
    if not total:
        return None
    best = max(found, key=found.__getitem__)
    return Guess(best, found[best] / total)


def languages_of(texts: Iterable[str]) -> Counter[str]:
    """Identify the languages of texts that belong together, and count the texts in each.

    Texts that are too short are joined. What cannot be identified with confidence is not counted.

    >>> languages_of(["Wie geht's?", "Guten Tag!", "Auf Wiedersehen!", "Ich weiß das leider nicht"])
    Counter({'de': 4})
    """
    found = Counter[str]()
    short: dict[str, int] = {}
    letters = 0
    for text, times in Counter(texts).items():
        if identify(text) is not None:
            guess = confident_guess(text)
            found.update({} if guess is None else {guess: times})
            continue
        short[text] = times
        dense, count = letters_in(text, DENSE)
        letters += count + 2 * dense
        if letters >= JOINED_LETTERS:
            guess = confident_guess(" ".join(short))
            found.update({} if guess is None else {guess: sum(short.values())})
            short, letters = {}, 0
    return found


def same_language(one: str, other: str) -> bool:
    """Whether two codes are the same language, or languages that identification confuses.

    >>> same_language("deu", "de-AT"), same_language("nb", "da"), same_language("de", "nl")
    (True, True, False)
    """
    a, b = primary(one), primary(other)
    return a == b or any({a, b} <= group for group in KINDRED)


def in_other_script(text: str, scripts: frozenset[str]) -> bool:
    """Whether three quarters of the letters of a text belong to none of the scripts.

    >>> in_other_script("Где вокзал?", frozenset({"Latn"}))
    True
    """
    inside, letters = letters_in(text, scripts)
    return letters >= SCRIPT_LETTERS and letters - inside >= FOREIGN * letters


def is_other_language(text: str, lang: str) -> bool:
    """Whether a text is certainly not in a language: by its script, or by identification.

    >>> is_other_language("Wo hast du so gut Französisch gelernt?", "en")
    True
    """
    scripts = scripts_of(lang)
    if scripts is not None and in_other_script(text, scripts):
        return True
    guess = confident_guess(text)
    if guess is None or same_language(guess, lang):
        return False
    return primary(lang) in identified_languages()


@cache
def identified_languages() -> frozenset[str]:
    """The languages that can be identified."""
    return frozenset(primary(str(label)) for label in _identifier().labels)


@cache
def _identifier() -> Any:
    return load_identifier(norm_probs=True)


FORMAT = 1
"""Of the unpacked arrays. py3langid (0.4.0) unpacks its model in every process: 0.4 to 0.6 s of CPU
time, and 69 MB of memory. Here the unpacked arrays are kept in the cache folder, and mapped into
memory: processes share them, and starting takes 20 ms. Only the public constructor and attributes
of its class are used; whatever goes wrong with the arrays, the packed model is used."""
ENGLISH = "Where did you learn to speak French so well?"


def load_identifier(*, norm_probs: bool = False) -> Any:
    """A ``py3langid.langid.LanguageIdentifier`` with the model that is part of the package.

    With ``norm_probs``, it gives probabilities instead of scores.
    """
    folder = unpacked_folder()
    with suppress(Exception):  # not unpacked yet, damaged, or of another version
        return _mapped(folder, norm_probs)
    identifier = _packed(norm_probs)
    with suppress(Exception):  # a full disk, or another layout of the arrays
        _unpack(identifier, folder)
    return identifier


def unpacked_folder() -> Path:
    """Where the arrays of this version of py3langid are kept."""
    return identifiers_folder() / f"py3langid-{version('py3langid')}-{FORMAT}"


def check_unpacked() -> None:
    """Compare the arrays in the cache with the model of the package; ModelError if they differ."""
    import numpy as np

    folder = unpacked_folder()
    for name, array in _arrays(_packed(False)).items():
        try:
            same = np.array_equal(_array(folder, name), array)
        except Exception as error:
            raise ModelError(f"{folder} is damaged ({error})") from error
        if not same:
            raise ModelError(f"{folder} is damaged ({name})")


def _packed(norm_probs: bool) -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=norm_probs)


def _arrays(identifier: Any) -> dict[str, Any]:
    import numpy as np

    return {
        "probabilities": identifier.nb_ptc,
        "prior": identifier.nb_pc,
        "languages": np.array(identifier.nb_classes),
        "moves": np.asarray(identifier.tk_nextmove),
        "rows": np.asarray(identifier.tk_row),
        "features": np.asarray(identifier.tk_output, np.int32),
    }


def _array(folder: Path, name: str) -> Any:
    import numpy as np

    return np.asarray(np.lib.format.open_memmap(folder / f"{name}.npy", mode="r"))


def _mapped(folder: Path, norm_probs: bool) -> Any:
    from py3langid.langid import LanguageIdentifier

    identifier = LanguageIdentifier(
        _array(folder, "probabilities"),
        _array(folder, "prior"),
        _array(folder, "languages").tolist(),
        memoryview(_array(folder, "moves")),  # whose items are integers of Python
        _array(folder, "features").tolist(),
        norm_probs=norm_probs,
        tk_row=_array(folder, "rows").tolist(),
    )
    if identifier.classify(ENGLISH)[0] != "en":
        raise ModelError(f"{folder} is damaged")
    return identifier


def _is_complete(folder: Path) -> bool:
    try:
        _mapped(folder, norm_probs=False)
    except Exception:
        return False
    return True


def _unpack(identifier: Any, folder: Path) -> None:
    """Write the arrays, unless another process has done so meanwhile; replace damaged ones."""
    import numpy as np

    with derived(folder, lambda: _is_complete(folder)) as made:
        for name, array in _arrays(identifier).items():
            with (made / f"{name}.npy").open("wb") as stream:
                np.save(stream, array, allow_pickle=False)
                sync(stream)

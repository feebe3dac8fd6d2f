"""Names, numbers and terms that are replaced alike on both sides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tertium.errors import SettingError
from tertium.training.model.batches import BLOCK_BATCHES, Sampler
from tertium.training.model.bitext import Pair, held_out
from tertium.training.model.corpus import (
    Corpus,
    Source,
    load_corpus,
    write_corpus,
)
from tertium.training.model.lexicon import (
    Lexicon,
    build_lexicon,
    find_names,
    language_terms,
    number_formats,
    package_names,
)
from tertium.training.model.names import (
    NameReplacer,
    contrasting,
    find_slots,
    mentions,
    replace_names,
)
from tertium.training.model.plan import Mixture
from tertium.training.model.tokenizer import PAD, Tokenizer, train_tokenizer

LANGUAGES = ["en", "de", "fr", "es"]
PAIRS = [
    ("Tom sleeps.", "Tom schläft."),
    ("Tom saw Mary.", "Tom sah Mary."),
    ("Mary lives in Germany.", "Mary lebt in Deutschland."),
    ("Does Tom live in Austria?", "Lebt Tom in Österreich?"),
    ("Mary is in Austria.", "Mary ist in Österreich."),
    ("Tom and Mary have 12 dogs.", "Tom und Mary haben 12 Hunde."),
    ("Mark my words, Mary.", "Denk an meine Worte, Mary."),
    ("It costs one mark.", "Das kostet eine Mark."),
    ("Is Tom here?", "Ist Tom hier?"),
]
NO_DIGITS = str.maketrans("", "", "0123456789")


def pair(a: str, b: str, langs: str = "en-de") -> Pair:
    lang_a, lang_b = langs.split("-")
    return Pair(lang_a, lang_b, a, b)


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    """Few names to draw, so that the tests can tell all that may come out."""
    drawn = {
        "male": ["Tom", "Mark", "Boris", "Olaf"],
        "female": ["Mary", "Rosa", "Inge"],
        "surname": ["Fuchs", "Novak"],
        "city": ["Boston", "Gera"],
    }
    empty = Lexicon({}, drawn, language_terms(LANGUAGES), number_formats(LANGUAGES))
    return find_names([pair(en, de) for en, de in PAIRS], empty)


def drawn(made: Pair, lexicon: Lexicon, count: int = 60) -> list[Pair]:
    slots = find_slots(made, lexicon)
    changed = [
        replace_names(made, slots, lexicon, np.random.default_rng(seed)) for seed in range(count)
    ]
    return [one for one in changed if one is not None]


def test_names_are_those_that_the_data_has_unchanged_on_both_sides(lexicon: Lexicon) -> None:
    """Mark is a word of both languages as well, but never the same on both sides."""
    assert lexicon.names == {"Mary": "female", "Tom": "male"}
    assert lexicon.before["de"] == {"Deutschland": [], "Österreich": ["in"]}


def test_a_name_is_replaced_by_one_of_its_gender_on_both_sides(lexicon: Lexicon) -> None:
    made = drawn(pair("Tom is tired.", "Tom ist müde."), lexicon)
    names = {one.a.removesuffix(" is tired.") for one in made}
    firsts = ["Tom", "Mark", "Boris", "Olaf"]
    full = [f"{name} {last}" for name in firsts for last in ("Fuchs", "Novak")]
    assert names == {*firsts[1:], *full}
    assert all(one.b == one.a.replace("is tired", "ist müde") for one in made)


def test_a_name_beside_another_gets_no_surname(lexicon: Lexicon) -> None:
    made = drawn(pair("Does Mary Brown sleep?", "Schläft Mary Brown?"), lexicon)
    assert {one.b for one in made} == {"Schläft Rosa Brown?", "Schläft Inge Brown?"}
    made = drawn(pair("Ask Mary Brown!", "Frag Mary Braun!"), lexicon)
    assert "Ask Rosa Novak Brown!" in {one.a for one in made}


def test_words_are_no_names(lexicon: Lexicon) -> None:
    """Union and Progress are cities of GeoNames, and the same in both languages."""
    cities = {**lexicon.drawn, "city": ["Union", "Gera", "Progress"]}
    empty = Lexicon({}, cities, lexicon.terms, lexicon.formats)
    pairs = [
        *[pair("the Union and Gera", "die Union und Gera")] * 5,
        *[pair("Progress", "Progress")] * 5,
        pair("our progress", "progress"),
    ]
    assert find_names(pairs, empty).names == {"Gera": "city"}


def test_a_name_of_people_and_cities_is_what_the_data_makes_of_it(lexicon: Lexicon) -> None:
    drawn = {**lexicon.drawn, "male": ["Boston", "Diego"], "city": ["Boston", "Diego"]}
    pairs = [
        *[pair("Boston is in Boston", "Boston ist in Boston")] * 5,
        *[pair("Diego sleeps", "Diego schläft")] * 5,
    ]
    found = find_names(pairs, Lexicon({}, drawn, lexicon.terms, lexicon.formats))
    assert found.names == {"Boston": "city", "Diego": "male"}


def test_no_two_draws_are_alike(lexicon: Lexicon) -> None:
    made = drawn(pair("Monday or Tuesday", "Montag oder Dienstag"), lexicon)
    days = [one.a.split(" or ") for one in made]
    assert all(len({*some, "Monday", "Tuesday"}) == 4 for some in days)


def test_the_genitive_of_german_names(lexicon: Lexicon) -> None:
    made = drawn(pair("Mary's cat", "Marys Katze"), lexicon)
    for one in made:
        name = one.a.removesuffix("'s cat")
        ending = "’" if name.endswith("s") else "s"
        assert one.b == f"{name}{ending} Katze"
    assert {one.b for one in made} >= {"Rosas Katze", "Inge Fuchs’ Katze"}


def test_what_one_side_alone_mentions_stays(lexicon: Lexicon) -> None:
    one = pair("Tom has 12 dogs.", "Er hat zwölf Hunde.")
    assert find_slots(one, lexicon) == []
    assert replace_names(one, [], lexicon, np.random.default_rng(0)) is None


@pytest.mark.parametrize(
    ("langs", "a", "b", "value"),
    [
        ("en-de", "It is 1,234.5 m.", "Es sind 1.234,5 m.", "1234.5"),
        ("fr-es", "1 234 fois", "1.234 veces", "1234"),
        ("fr-es", "1\u202f234 fois", "1234 veces", "1234"),
        ("en-fr", "7.25%", "7,25 %", "7.25"),
    ],
)
def test_numbers_are_read_and_written_as_each_language_does(
    lexicon: Lexicon, langs: str, a: str, b: str, value: str
) -> None:
    one = pair(a, b, langs)
    [slot] = find_slots(one, lexicon)
    assert (slot.kind, slot.value) == ("number", value)
    for changed in drawn(one, lexicon, 20):
        [again] = find_slots(changed, lexicon)
        assert len(again.value) == len(value)
        assert again.value in mentions(changed.a, one.lang_a, lexicon).popitem()[0]
        digits = [any(letter.isdigit() for letter in text) for text in (changed.a, changed.b)]
        assert digits == [True, True]
        assert [text.translate(NO_DIGITS) for text in (changed.a, changed.b)] == [
            text.translate(NO_DIGITS) for text in (a, b)
        ]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("1 dog", "1 Hund"),  # two would need a plural
        ("at 10:30", "um 10:30"),
        ("007", "007"),
        ("2000000 people", "2000000 Menschen"),
        ("the 21st", "der 21st"),
        ("3-4 men", "3-4 Männer"),
    ],
)
def test_numbers_that_are_left_alone(lexicon: Lexicon, a: str, b: str) -> None:
    assert find_slots(pair(a, b), lexicon) == []


def test_years_days_and_months(lexicon: Lexicon) -> None:
    one = pair("on 15 May 1987", "am 15. Mai 1987")
    made = drawn(one, lexicon)
    months = {lexicon.terms["month"][n]["en"]: lexicon.terms["month"][n]["de"] for n in range(12)}
    assert months["March"] == "März"
    for changed in made:
        _, day, month, year = changed.a.split()
        assert changed.b == f"am {day}. {months[month]} {year}"
        assert 2 <= int(day) <= 28
        assert 1500 <= int(year) <= 2030
    assert len({changed.a.split()[2] for changed in made}) == 11


def test_a_country_follows_only_words_that_were_seen_before_it(lexicon: Lexicon) -> None:
    """In Deutschland was seen once, in Österreich twice: so there is one country to draw."""
    made = drawn(pair("in Germany", "in Deutschland"), lexicon, 400)
    assert {changed.b for changed in made} == {"in Österreich"}
    assert drawn(pair("for Germany", "für Deutschland"), lexicon, 400) == []


def test_cities_in_the_spelling_of_each_language(lexicon: Lexicon) -> None:
    spellings = {frozenset(about.items()) for about in lexicon.terms["city"]}
    assert frozenset({"en": "Moscow", "de": "Moskau", "fr": "Moscou", "es": "Moscú"}.items()) in (
        spellings
    )
    [slot] = find_slots(pair("to New York", "nach New York"), lexicon)
    assert slot.kind == "city"
    for changed in drawn(pair("to Moscow", "nach Moskau"), lexicon):
        assert [slot.kind for slot in find_slots(changed, lexicon)] == ["city"]


def test_elision(lexicon: Lexicon) -> None:
    """D'Inge and de Rosa."""
    names = {"Mary": "female", "Inge": "female"}
    french = replace(lexicon, names=names)
    vowel = drawn(pair("Inge's dog", "le chien d'Inge", "en-fr"), french)
    assert {one.b for one in vowel} == {f"le chien d'Inge {last}" for last in ("Fuchs", "Novak")}
    consonant = drawn(pair("Mary's dog", "le chien de Mary", "en-fr"), french)
    assert {one.b.split()[3] for one in consonant} == {"Mary", "Rosa"}


def test_plural_categories_are_kept() -> None:
    """In Russian, 21 goes with 31 and 41; the English plural is the same for all."""
    names: dict[str, list[str]] = {"male": [], "female": [], "surname": [], "city": []}
    russian = Lexicon({}, names, {}, number_formats(["en", "ru"]))
    made = drawn(pair("21 dogs", "21 собака", "en-ru"), russian, 300)
    assert {one.a for one in made} == {f"{tens}1 dogs" for tens in range(3, 10)}


def test_sentences_that_are_held_out_are_not_made(lexicon: Lexicon) -> None:
    """Sentence 654 is held out (its CRC-32 is 2531946800 = 400 * 6329867)."""
    assert held_out("Sentence 654.")
    one = pair("Sentence 100.", "Satz 100.")
    slots = find_slots(one, lexicon)
    made = [replace_names(one, slots, lexicon, np.random.default_rng(seed)) for seed in range(5000)]
    texts = [changed.a for changed in made if changed is not None]
    assert len(texts) < 5000
    assert not any(map(held_out, texts))


def test_contrasts_exchange_two_of_a_kind_or_replace_one(lexicon: Lexicon) -> None:
    generator = np.random.default_rng(1)
    one = pair("Tom saw Mary.", "Tom sah Mary.")
    assert contrasting(one, find_slots(one, lexicon), lexicon, generator) == (
        "names",
        one._replace(b="Mary sah Tom."),
    )
    one = pair("20 or 30", "20 oder 30")
    assert contrasting(one, find_slots(one, lexicon), lexicon, generator) == (
        "numbers",
        one._replace(b="30 oder 20"),
    )
    one = pair("Tom has 12 dogs.", "Tom hat 12 Hunde.")
    kind, wrong = contrasting(one, find_slots(one, lexicon), lexicon, generator) or ("", one)
    assert kind == "names"
    assert wrong.a == one.a
    assert wrong.b != one.b
    assert wrong.b.endswith(" hat 12 Hunde.")
    one = pair("Nobody came.", "Niemand kam.")
    assert contrasting(one, find_slots(one, lexicon), lexicon, generator) is None


def test_the_packages_have_names_of_all_roles() -> None:
    names = package_names()
    assert {role: len(found) > 1000 for role, found in names.items()} == {
        "male": True,
        "female": True,
        "surname": True,
        "city": True,
    }
    assert "Mary" in names["female"]
    assert "Tom" in names["male"]
    assert "Boston" in names["city"]
    assert names == package_names()


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tertium.registry.find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"needs babel: pip install 'tertium\[train\]'"):
        build_lexicon([], LANGUAGES)


@pytest.fixture
def prepared(lexicon: Lexicon, tmp_path: Path) -> tuple[Corpus, Tokenizer]:
    texts = [text for one in PAIRS for text in one] + [
        " ".join([*lexicon.drawn["male"], *lexicon.drawn["female"], *lexicon.drawn["surname"]])
    ]
    spm = tmp_path / "spm.model"
    spm.write_bytes(train_tokenizer(texts, ["en", "de"], vocabulary=330))
    tokenizer = Tokenizer(spm, ["en", "de"])
    pairs = [pair(en, de) for en, de in PAIRS]
    write_corpus(tmp_path / "corpus", [Source(pairs)], tokenizer, max_tokens=60, lexicon=lexicon)
    loaded = load_corpus(tmp_path / "corpus")
    assert loaded is not None
    return loaded, tokenizer


def sampler(corpus: Corpus, tokenizer: Tokenizer, names: float = 0.5) -> Sampler:
    assert corpus.lexicon is not None
    return Sampler(
        corpus,
        Mixture(paraphrases=0.0, copies=0.0, joined=0.0, names=names),
        tokenizer.tags,
        batch_tokens=60,
        max_tokens=60,
        seed=1,
        replacer=NameReplacer(corpus.lexicon, tokenizer, max_tokens=60),
    )


def test_the_lexicon_is_saved_with_the_corpus(
    lexicon: Lexicon, prepared: tuple[Corpus, Tokenizer]
) -> None:
    corpus, _ = prepared
    assert corpus.lexicon == lexicon
    names = [stream for stream in corpus.streams if stream.kind == "names"]
    assert [(stream.source_lang, stream.target_lang) for stream in names] == [
        ("de", "en"),
        ("en", "de"),
    ]
    assert [stream.size for stream in names] == [8, 8]  # all but "It costs one mark."


def test_a_share_of_the_samples_has_other_names_and_depends_on_the_number_alone(
    prepared: tuple[Corpus, Tokenizer],
) -> None:
    one, other = sampler(*prepared), sampler(*prepared)
    numbers = [*range(200), BLOCK_BATCHES + 3, 9 * BLOCK_BATCHES]
    batches = {number: one.batch(number) for number in numbers}
    for number in reversed(numbers):
        again = other.batch(number)
        assert again.labels.tolist() == batches[number].labels.tolist()
        assert again.sources.tolist() == batches[number].sources.tolist()
        assert other.count(number) == again.count
    decode = prepared[1].decode
    texts = [
        decode([token for token in row if token != PAD])
        for number in range(200)
        for row in batches[number].labels.tolist()
    ]
    originals = {text for pair in PAIRS for text in pair}
    # Half are from the streams of names; in some of them, nothing fits.
    assert 0.4 < np.mean([text not in originals for text in texts]) <= 0.51
    assert len(set(texts)) > 150

"""What users of sacrebleu, COMET and bert-score type, works or is explained."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import tertium as library
from tertium.cli.habits import EXPLAINED, expand, language_pair
from tertium.errors import LanguageError
from tertium.models.public import public_names

from .conftest import TERTIUM, Run

HYPOTHESES = ["The cat sat on a mat.", "It rained all day."]
REFERENCES = ["The cat sat on the mat.", "It rained all day."]
OPTIONS = {"--hyp": True, "-t": True, "--ref": True, "-r": True, "--measure": True, "-m": True}
OPTIONS |= {"--quiet": False, "-q": False, "--set": True, "--tokenize": True, "--score-only": False}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, lines in (("hyp", HYPOTHESES), ("ref", REFERENCES), ("src", ["Eins.", "Zwei."])):
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def system(measure: str) -> float:
    return library.load(measure).score(HYPOTHESES, REFERENCES).system


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("-t a b -r r", "-t a -t b -r r"),
        ("--hyp a b -q c", "--hyp a --hyp b -q c"),
        ("-m bleu chrf pairs.tsv", "-m bleu -m chrf pairs.tsv"),
        ("-m BLEU BERTScore chrF++ x", "-m BLEU -m BERTScore -m chrF++ x"),
        ("pairs.tsv -m chrf", "pairs.tsv -m chrf"),
        ("-c a -r b", "--hyp a -r b"),
        ("--metrics bleu chrf", "--measure bleu --measure chrf"),
        ("-tok zh -lc", "--set tokenize=zh --set lowercase=yes"),
        ("-q -- -m a", "-q -- -m a"),
        ("--hyp=a b", "--hyp=a --hyp b"),
        ("--references r.txt", "--ref r.txt"),
        ("--only_system -", "--score-only -"),
        ("-t - a", "-t - -t a"),
        ("-m", "-m"),
    ],
)
def test_arguments_are_expanded(typed: str, meant: str) -> None:
    assert expand(typed.split(), OPTIONS) == meant.split()


def test_language_pairs_are_not_regions() -> None:
    assert language_pair("de-en") == ("de", "en")
    assert language_pair("zho-eng") == ("zho", "eng")
    for one in ("de", "en-US", "en-us", "pt-br", "zh-tw", "zh-Hant", None, ""):
        assert language_pair(one) is None


def test_sacrebleu(tertium: Run, files: Path) -> None:
    done = tertium("score", "ref.txt", "-i", "hyp.txt", "-m", "bleu", "chrf", "-b", "-w", "2")
    assert done.stdout == f"{system('bleu'):.2f}\t{system('chrf'):.2f}\n"
    assert done.stderr == ""
    text = tertium("score", "ref.txt", "-i", "hyp.txt", "-m", "bleu", "-f", "text", "-l", "de-en")
    assert text.stdout.split() == ["system", "bleu", "hyp", f"{system('bleu'):.2f}"]
    assert "l:en|" in text.stderr
    document = tertium("score", "ref.txt", "-i", "hyp.txt", "-m", "bleu", "-f", "json").stdout
    assert json.loads(document)["measures"]["bleu"]["system"] == system("bleu")
    chars = tertium("score", "ref.txt", "-i", "hyp.txt", "-m", "bleu", "-tok", "char", "-b")
    assert float(chars.stdout) == pytest.approx(system("bleu:tokenize=char"), abs=0.01)
    as_format = tertium("score", "ref.txt", "-i", "hyp.txt", "--format", "json")
    assert as_format.returncode == 2
    assert "use -f" in as_format.stderr
    test_set = tertium("score", "-t", "wmt20", "-l", "de-en", "-i", "hyp.txt", "-m", "bleu")
    assert test_set.returncode == 2
    assert "use -d wmt20" in test_set.stderr


def test_comet(tertium: Run, files: Path) -> None:
    (files / "hyp2.txt").write_text("\n".join(REFERENCES) + "\n")
    command = ("-s", "src.txt", "-t", "hyp.txt", "hyp2.txt", "-r", "ref.txt", "-m", "chrf")
    done = tertium("score", *command, "--only_system", "--to_json", "out.json")
    assert done.stdout.split() == [f"{system('chrf'):.2f}", "100.00"]
    document = json.loads((files / "out.json").read_text("utf-8"))
    assert document["systems"]["hyp2"]["chrf"]["system"] == 100
    refused = tertium("score", *command, "--to_json", "out.json")
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    long = ("--translations", "hyp.txt", "--references", "ref.txt", "--sources", "src.txt")
    assert tertium("score", *long, "-m", "chrf", "-q").returncode == 0


def test_bert_score(tertium: Run, files: Path) -> None:
    done = tertium(
        "score", "-c", "hyp.txt", "-r", "ref.txt", "-m", "BERTScore", "--lang", "en", "--rows"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].split("\t")[:3] == ["hyp", "ref", "bertscore"]


@pytest.mark.parametrize("measures", ["bleu chrf", "bleu,chrf", "bleu -m chrf", "BLEU ChrF"])
def test_several_measures_in_any_notation(tertium: Run, files: Path, measures: str) -> None:
    done = tertium("score", "--hyp", "hyp.txt", "--ref", "ref.txt", "-m", *measures.split())
    assert done.stdout.splitlines()[0].split() == ["system", "bleu", "chrf"]


@pytest.mark.parametrize("name", ["comet", "COMET", "Unbabel/wmt22-comet-da", "bleurt", "rouge"])
def test_metrics_of_others_are_explained(tertium: Run, files: Path, name: str) -> None:
    done = tertium("score", "-t", "hyp.txt", "-r", "ref.txt", "-m", name)
    assert done.returncode == 2
    assert re.search("-m (cross|chrf)", done.stderr)
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("hyp.txt hyp.txt -r ref.txt", "-t hyp.txt hyp.txt"),
        ("ref.txt", "ref.txt has one column, and is not a table of pairs; of plain text, give"),
        ("hyp.txt -r ref.txt", "hypotheses are given with -t: -t hyp.txt"),
        ("-c hyp.txt -r ref.txt -m roberta-large", "bertscore@roberta-large"),
        ("-t hyp.txt -r ref.txt --model Unbabel/wmt22-comet-da", "-m cross"),
        ("-t hyp.txt -r ref.txt --model prism", "use `tertium models fetch prism`"),
        ("-t hyp.txt -s src.txt", "use prism-src"),
        ("-t hyp.txt -s src.txt", "(--measure prism-src with --lang and --src-lang)"),
        ("-t hyp.txt -s src.txt", "--against source"),
        ("-t hyp.txt", "-s src.txt -m prism-src -l de-en"),
        ("-t hyp.txt -r ref.txt -m bleu chrff", "'chrff' is neither a measure"),
    ],
)
def test_the_error_says_what_to_type(
    tertium: Run, files: Path, arguments: str, message: str
) -> None:
    done = tertium("score", *arguments.split())
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("option", sorted(EXPLAINED))
def test_options_of_others_are_explained(tertium: Run, files: Path, option: str) -> None:
    done = tertium("score", "-t", "hyp.txt", "-r", "ref.txt", option, "1")
    assert done.returncode == 2
    assert done.stderr == f"tertium: no option {option}: {EXPLAINED[option]}\n"


@pytest.mark.parametrize("arguments", ["-b 2", "--beam 2", "--nbest 2"])
def test_translate_as_with_other_decoders(arguments: str) -> None:
    options = {"--beam-size": True, "--count": True}
    name, number = expand(arguments.split(), options)
    assert name in options
    assert number == "2"


def test_help_by_one_letter(tertium: Run) -> None:
    for command in ((), ("score",), ("compare",), ("models",), ("study", "bias"), ("measures",)):
        assert "Usage:" in tertium(*command, "-h").stdout


def test_the_help_of_score_fits_on_one_screen_and_a_half(tertium: Run) -> None:
    environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb"}
    shown = subprocess.run(
        [*TERTIUM, "score", "--help"], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert len(shown.splitlines()) <= 72  # one and a half of 48 lines
    needed = ["--hyp", "--ref", "--src", "--measure", "--lang", "--output", "--engine"]
    places = [shown.index(f"│ {option} ") for option in needed]
    assert places == sorted(places)


def test_measures_are_listed(tertium: Run) -> None:
    listed = tertium("measures").stdout
    for name in ("cross", "prism-src", "chrf", "wmdo", "sentsim", "bleu-nltk"):
        assert re.search(rf"^{name} ", listed, re.MULTILINE)
    assert "pip install 'tertium[wmd]'" in listed
    assert "char_order=6, word_order=0" in listed
    one = tertium("measures", "Cross").stdout
    assert "range     0 to about 1;" in one
    assert re.search(r"base +default: e \(e, 2\)\n +e, or 2 as in the first release", one)
    assert "a translation model" in one
    assert re.search(r"beam_size +default: 5", one)
    assert "chrf:word_order=2" in tertium("measures", "chrf++").stdout
    assert tertium("measures", "chrrf").returncode == 2


def test_models_are_listed_in_full_when_piped(tertium: Run) -> None:
    lines = tertium("models").stdout
    for name in (*public_names("translation"), *public_names("encoder")):
        assert f" {name} " in lines
    assert "…" not in lines
    assert tertium("models", "list").stdout == lines


def test_completion_can_be_installed(tertium: Run) -> None:
    assert "--install-completion" in tertium("--help").stdout


def test_a_verbose_run_logs_what_is_done(tertium: Run, files: Path) -> None:
    command = ("score", "-t", "hyp.txt", "-r", "ref.txt", "-m", "cross", "-q", "-b")
    assert tertium(*command).stderr == ""
    logged = tertium(*command, "-v").stderr
    assert "reading hyp.txt, ref.txt" in logged
    assert "loading translation model tertium-mini" in logged
    assert "scored 2 rows of hyp" in logged


def test_bleu_takes_the_tokenizer_of_the_language(tertium: Run, tmp_path: Path) -> None:
    (tmp_path / "h").write_text("我今天很累。\n", encoding="utf-8")
    files = ("-t", tmp_path / "h", "-r", tmp_path / "h")
    done = tertium("score", *files, "-l", "en-zh", "-m", "bleu", "-f", "json")
    assert "tok:zh" in done.stdout
    assert library.score(["我今天很累。"], ["我今天很累。"], measure="bleu", lang="zh") == [
        pytest.approx(100)
    ]


def test_a_pair_where_one_language_is_needed_is_refused(tertium: Run) -> None:
    done = tertium("explain", "One text.", "Another text.", "--ref-lang", "de-en", "-l", "en")
    assert done.returncode == 2
    assert "looks like a language pair" in done.stderr
    with pytest.raises(LanguageError, match="looks like a language pair"):
        library.score("a b", "c d", measure="direct", lang="de-en")


def test_a_language_pair_in_compare(tertium: Run, files: Path) -> None:
    command = (
        "-t",
        files / "hyp.txt",
        files / "ref.txt",
        "-s",
        files / "src.txt",
        "-m",
        "prism-src",
    )
    done = tertium("compare", *command, "-l", "de-en", "--json")
    assert done.returncode == 0, done.stderr
    assert (
        "|lang:en|source_lang:de|" in json.loads(done.stdout)["measures"]["prism-src"]["signature"]
    )


def test_exit_codes_are_in_the_help(tertium: Run) -> None:
    assert "Exit codes: 0 done; 2" in " ".join(tertium("--help").stdout.split())


def test_a_missing_file_is_named_before_anything_else(tertium: Run) -> None:
    assert "nofile.txt: there is no such file" in tertium("paraphrase", "nofile.txt").stderr


def test_marks_are_reported_where_there_is_no_summary(tertium: Run, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Hello there.\n\n")
    (tmp_path / "r").write_text("Hello there.\nGood bye.\n")
    files = ("-t", tmp_path / "a", "-r", tmp_path / "r", "-m", "chrf")
    for how in (("-b",), ("-f", "json")):
        done = tertium("score", *files, *how)
        assert done.returncode == 0
        assert "have an empty text" in done.stderr


@pytest.mark.parametrize("command", ["score", "explain"])
@pytest.mark.parametrize("languages", [("-l", "de-en"), ("--lang", "en", "--src-lang", "de")])
def test_two_texts_have_no_source(tertium: Run, command: str, languages: tuple[str, ...]) -> None:
    """The language of the second text would be that of the first, in silence."""
    refused = tertium(command, "Der Hund schläft.", "The dog sleeps.", *languages)
    assert refused.returncode == 2
    assert "that of the second with --ref-lang" in refused.stderr


def test_a_quiet_comparison_still_prints_its_table(tertium: Run) -> None:
    run = tertium(
        "compare", Path(__file__).parents[2] / "examples" / "systems.tsv", "-m", "chrf", "-q"
    )
    assert "careful" in run.stdout
    assert run.stderr == ""


@pytest.mark.filterwarnings("default::FutureWarning")
def test_options_of_the_version_before_work_with_a_warning(tertium: Run) -> None:
    bitext = Path(__file__).parents[2] / "examples" / "bitext.tsv"
    done = tertium("filter", bitext, "-l", "de-en", "-f", "length,ratio")
    assert done.returncode == 0, done.stderr
    assert "filters are given by --filters now, no longer by -f" in done.stderr
    assert "8 of 10 rows kept" in done.stderr
    formatted = tertium("filter", bitext, "-l", "de-en", "--filters", "length", "-f", "json")
    assert "no longer by -f" not in formatted.stderr
    layers = tertium("study", "layers", "--dataset", "stsb=x")
    assert layers.returncode == 2
    assert "tertium study judgements --sweep layer" in layers.stderr

"""Tiny models of the real architectures, made on the spot and shared by the whole run; markers."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from tertium.models.card import EncoderCard, LanguageCard, TranslationCard
from tertium.models.convert.encoder import convert_encoder
from tertium.models.convert.language import convert_language_model
from tertium.models.convert.translation import Quantization, convert

from .tiny import MAKERS, Tiny, make_tiny
from .tiny_encoders import TinyEncoder, make_tiny_encoder
from .tiny_language import TinyLanguageModel, make_language_model

HERE = Path(__file__).parent
SLOW = {
    "cli/test_filter.py": ["test_killed_and_resumed"],
    "cli/test_isometry.py": ["test_"],
    "cli/test_language.py": ["test_"],
    "cli/test_models.py": [
        "test_convert_on_the_command_line",
        "test_a_model_without_all_its_weights",
    ],
    "cli/test_plugins.py": ["test_"],
    "cli/test_rephrasing.py": ["test_tables_and_figures_are_kept"],
    "cli/test_rerank.py": ["test_killed_and_resumed"],
    "cli/test_resume.py": [
        "test_kill_at_random_moments",
        "test_two_processes_on_one_cache",
        "test_the_second_of_two_runs_is_refused",
        "test_two_processes_on_one_output",
    ],
    "cli/test_serve.py": ["test_serves_on_loopback_and_stops"],
    "cli/test_systems.py": ["test_a_test_set_by_name"],
    "cli/test_train.py": ["test_"],
    "cli/test_translate.py": ["test_killed_and_resumed"],
    "comparison/test_significance.py": [
        "test_the_same_p_values",
        "test_samples_are_computed",
        "test_many_system",
    ],
    "compat/test_lighteval.py": ["test_the_command"],
    "compat/test_lm_eval.py": ["test_the_command"],
    "compat/test_mbrs.py": ["test_"],
    "compat/test_nmtscore.py": ["test_"],
    "compat/test_opusfilter.py": ["test_the_command"],
    "compat/test_prism.py": ["test_"],
    "compat/test_torchmetrics.py": ["test_three_processes"],
    "compat/test_trackers.py": ["test_"],
    "jobs/ray/test_scoring.py": ["test_"],
    "explanation/test_everyday.py": ["test_"],
    "measures/test_bertscore.py": ["test_same_as_the_package"],
    "measures/test_hostile.py": ["test_extremes"],
    "measures/test_long.py": ["test_the_bundled_model_reads"],
    "measures/test_translation.py": [
        "test_symmetric_order_free_and_finite",
        "test_identical_texts_score_one",
    ],
    "models/encoders/test_hub.py": ["test_"],
    "models/encoders/test_translation_encoder.py": ["test_token_vectors_equal_the_hidden_states"],
    "models/test_hub.py": ["test_"],
    "models/test_damaged_engine.py": ["test_"],
    "models/translation/test_ctranslate2.py": ["test_int8_numbers_are_the_same_to_the_bit"],
    "models/translation/test_sampling.py": ["test_epsilon_draws_from_the_probable_tokens"],
    "storage/test_unfinished.py": ["test_a_conversion_that_is_killed", "test_a_download_that_is"],
    "studies/test_rephrasing.py": ["test_several_processes"],
    "test_docs.py": ["test_commands_print_what_the_docs_say"],
    "test_typing.py": ["test_"],
    "web/test_accessibility.py": ["test_"],
    "web/test_api.py": ["test_ten_clients_cost_few_calls", "test_time_is_limited_and_the_place"],
    "web/test_connections.py": ["test_a_connection_may_be_used_again"],
    "web/test_page.py": ["test_"],
    "web/test_schema.py": ["test_"],
}
"""Tests of more than some two seconds, by file and the start of their names."""
TORCH_FIXTURES = {"family", "encoder", "release", "untaught", "tiny_language"}
"""Fixtures that make models; a test may have another fixture, or a parameter, of that name."""
SLOW_FOLDERS = ("models/convert/", "training/")
"""Folders whose tests make and train models with PyTorch, which also takes long to import."""
TORCH_FOLDERS = ("models/convert/", "training/", "cli/test_train.py")
NO_TORCH = "NOT TESTED: PyTorch and transformers are not installed (pip install 'tertium[train]')"
has_torch = all(find_spec(name) is not None for name in ("torch", "transformers", "accelerate"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their file, their fixtures and their commands."""
    for item in items:
        if not item.path.is_relative_to(HERE):
            continue
        file = item.path.relative_to(HERE).as_posix()
        fixtures = set(getattr(item, "fixturenames", ()))
        ray = "cluster" in fixtures or "--engine ray" in item.name
        slow = any(item.name.startswith(start) for start in SLOW.get(file, ()))
        if ray or slow or file.startswith(SLOW_FOLDERS):
            item.add_marker(pytest.mark.slow)
        if ray:
            item.add_marker(pytest.mark.ray)
        if "browser" in fixtures:
            item.add_marker(pytest.mark.chromium)
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        own = {name for name in ("encoder", "family") if hasattr(getattr(item, "module", 0), name)}
        if fixtures & TORCH_FIXTURES - parameters.keys() - own or file.startswith(TORCH_FOLDERS):
            item.add_marker(pytest.mark.torch)
        if not has_torch and item.get_closest_marker("torch"):
            item.add_marker(pytest.mark.skip(reason=NO_TORCH))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a module, and say so, that imports PyTorch where there is none."""
    report = yield
    if not has_torch and report.failed and collector.path.is_relative_to(HERE):
        missing = ("torch", "transformers", "accelerate", "safetensors", "bert_score")
        if any(f"No module named '{name}'" in str(report.longrepr) for name in missing):
            report.outcome = "skipped"
            report.longrepr = (str(collector.path), 0, f"Skipped: {NO_TORCH}")
    return report


@dataclass(frozen=True)
class Converted:
    """The same weights twice: in PyTorch, and in the engine's format."""

    original: Tiny
    folder: TranslationCard


def converted(original: Tiny, out: Path, quantization: Quantization = "float32") -> Converted:
    name = "opus-mt-en-fr" if original.family == "marian" else f"tiny-{original.family}"
    folder = convert(original.folder, out, name=name, licence="CC0-1.0", quantization=quantization)
    return Converted(original, folder)


@pytest.fixture(scope="session")
def family(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Converted]:
    """Make a family's tiny model when it is first asked for."""
    made: dict[str, Converted] = {}

    def get(name: str) -> Converted:
        if name not in made:
            scratch = tmp_path_factory.mktemp(name)
            made[name] = converted(make_tiny(name, scratch / "original"), scratch / "converted")
        return made[name]

    return get


@pytest.fixture(params=list(MAKERS))
def any_family(request: pytest.FixtureRequest, family: Callable[[str], Converted]) -> Converted:
    """Every family in turn."""
    return family(request.param)


@pytest.fixture(params=["m2m100", "prism"])
def tiny(request: pytest.FixtureRequest, family: Callable[[str], Converted]) -> Converted:
    """A model that tags its source, and one that does not."""
    return family(request.param)


@pytest.fixture
def tiny_m2m100(family: Callable[[str], Converted]) -> Converted:
    return family("m2m100")


@pytest.fixture
def tiny_prism(family: Callable[[str], Converted]) -> Converted:
    return family("prism")


@pytest.fixture(scope="session")
def tiny_int8(
    family: Callable[[str], Converted], tmp_path_factory: pytest.TempPathFactory
) -> Converted:
    out = tmp_path_factory.mktemp("int8") / "converted"
    return converted(family("prism").original, out, "int8")


@dataclass(frozen=True)
class ConvertedEncoder:
    """The same encoder twice: in PyTorch, and in the engine's format."""

    original: TinyEncoder
    folder: EncoderCard


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ConvertedEncoder]:
    """Make a family's tiny encoder when it is first asked for."""
    made: dict[str, ConvertedEncoder] = {}

    def get(name: str) -> ConvertedEncoder:
        if name not in made:
            scratch = tmp_path_factory.mktemp(name)
            original = make_tiny_encoder(name, scratch / "original")
            folder = convert_encoder(original.folder, scratch / "converted", name=f"tiny-{name}")
            made[name] = ConvertedEncoder(original, folder)
        return made[name]

    return get


@pytest.fixture(scope="session")
def tiny_language(tmp_path_factory: pytest.TempPathFactory) -> TinyLanguageModel:
    """A small language model like SmolLM2."""
    return make_language_model("smollm2", tmp_path_factory.mktemp("language") / "original")


@pytest.fixture(scope="session")
def language_folder(
    tiny_language: TinyLanguageModel, tmp_path_factory: pytest.TempPathFactory
) -> LanguageCard:
    """The same in the engine's format."""
    out = tmp_path_factory.mktemp("language") / "tiny-language"
    return convert_language_model(tiny_language.folder, out, licence="CC0-1.0")

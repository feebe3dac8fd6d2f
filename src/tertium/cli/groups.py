"""Options in groups: a dataclass becomes the options of a command, which receives it filled in.

A group checks itself, and returns what the layers below take.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

from tertium.cli.formats import LAYOUTS as PRINTED
from tertium.cli.formats import OutputFormat
from tertium.cli.habits import language_pair
from tertium.cli.inputs import refuse_as_output
from tertium.cli.options import (
    ENGINE,
    INPUT,
    MEASURES,
    OPTION,
    OUTPUT,
    AsText,
    ComputeType,
    Encoder,
    Force,
    HypColumn,
    Layer,
    Model,
    NoCache,
    Quiet,
    RefColumn,
    References,
    ReplaceInvalid,
    Source,
    SrcColumn,
    SrcLang,
    SrcLangColumn,
    Threads,
    option,
)
from tertium.cli.running import (
    EngineName,
    Running,
    chosen_cluster,
    log_to_terminal,
)
from tertium.cli.systems import refuse_existing
from tertium.data.pairs import Languages
from tertium.errors import InputError, SettingError
from tertium.jobs.output import Layout, check_output_file
from tertium.measures.loading import MeasureSpec, ModelSettings, read_specs
from tertium.measures.registry import DEFAULT_MEASURE, refuse_trained_metrics
from tertium.models.catalog import DEFAULT_MODEL
from tertium.stats.conventions import SAMPLES

if TYPE_CHECKING:
    from tertium.jobs.ray.cluster import ClusterSettings

STATISTICS = "Statistics"
Command = Callable[..., None]


def grouped(*without: str) -> Callable[[Command], Command]:
    """Make the fields of each parameter that is a dataclass options of the command.

    Fields of ``without`` are left out and keep their defaults. An option that the command declares
    itself replaces the field of the same name. Its own options are described as those of groups.
    """

    def decorate(command: Command) -> Command:
        hints = get_type_hints(command, include_extras=True)
        own = inspect.signature(command).parameters
        groups: dict[str, Any] = {name: hints[name] for name in own if is_dataclass(hints[name])}
        plain = [name for name in own if name not in groups]
        parameters: dict[str, inspect.Parameter] = {}
        members: dict[str, list[str]] = {}
        for name, parameter in own.items():
            if name in groups:
                left = {*without, *plain}
                options = options_of(groups[name], left)
                members[name] = list(options)
                for twice in parameters.keys() & options.keys():
                    raise TypeError(f"{command.__name__}: {twice} is in two groups")
                parameters |= options
            else:
                parameters[name] = _plain(parameter, hints[name])

        @wraps(command)
        def run(**given: Any) -> None:
            made = {
                name: cls(**{field: given.pop(field) for field in members[name]})
                for name, cls in groups.items()
            }
            command(**made, **given)

        run.__annotations__ = {name: each.annotation for name, each in parameters.items()}
        signature = inspect.Signature(list(parameters.values()))
        run.__signature__ = signature  # type: ignore[attr-defined]
        return run

    return decorate


def options_of(group: Any, without: Iterable[str] = ()) -> dict[str, inspect.Parameter]:
    """The fields of a dataclass as parameters of a command."""
    hints = get_type_hints(group, include_extras=True)
    return {
        each.name: inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=_annotation(group, each, hints[each.name]),
        )
        for each in fields(group)
        if each.name not in without
    }


def _annotation(group: Any, of: Field[Any], hint: Any) -> Any:
    """The type of a field with its option, in the panel of the group that has the field."""
    if OPTION not in of.metadata:
        return hint
    owner = next(each for each in group.__mro__ if of.name in inspect.get_annotations(each))
    return _with_option(of, of.name, hint, owner.__dict__.get("panel"))


def _plain(parameter: inspect.Parameter, hint: Any) -> inspect.Parameter:
    """A parameter of a command itself; its option may be described as that of a field."""
    default = parameter.default
    if isinstance(default, Field):
        hint, default = _with_option(default, parameter.name, hint), default.default
    kind = inspect.Parameter.KEYWORD_ONLY
    return parameter.replace(annotation=hint, default=default, kind=kind)


def _with_option(of: Field[Any], name: str, hint: Any, panel: str | None = None) -> Any:
    flags, settings = of.metadata[OPTION]
    if not flags and hint in (bool, bool | None):
        flags = (f"--{name.replace('_', '-')}",)
    panel = settings["rich_help_panel"] or panel
    return Annotated[hint, typer.Option(*flags, **{**settings, "rich_help_panel": panel})]


@dataclass(frozen=True)
class LanguageOptions:
    """The languages of all texts; ``--lang`` may be a pair with the source first."""

    lang: str | None = option(
        None, "Language (ISO 639), or a pair with the source first: de-en.", "--lang", "-l"
    )
    src_lang: SrcLang = None
    tgt_lang: str | None = option(None, "The same as --lang, beside --src-lang.", hidden=True)
    ref_lang: str | None = option(None, "Language of the references, if different.")

    def __post_init__(self) -> None:
        if self.tgt_lang is not None and language_pair(self.lang) is None:
            if self.lang not in (None, self.tgt_lang):
                raise SettingError(
                    f"--lang {self.lang} and --tgt-lang {self.tgt_lang}: they are the same; "
                    "give one of them"
                )
            object.__setattr__(self, "lang", self.tgt_lang)

    @property
    def pair(self) -> tuple[str, str] | None:
        """Source and target, where they are given as a pair."""
        return language_pair(self.lang)

    @property
    def hyp(self) -> str | None:
        """The language of the hypotheses."""
        return self.lang if self.pair is None else self.tgt_lang or self.pair[1]

    @property
    def src(self) -> str | None:
        """The language of the sources."""
        return self.src_lang if self.pair is None else self.src_lang or self.pair[0]

    @property
    def languages(self) -> Languages:
        """The languages of hypotheses, references and sources."""
        return Languages(hyp=self.hyp, ref=self.ref_lang or self.hyp, src=self.src)

    def of(self, pair: tuple[str, str]) -> LanguageOptions:
        """With the languages of a test set, where they are not given."""
        return LanguageOptions(pair[1], self.src or pair[0], None, self.ref_lang)

    def refuse_source(self) -> None:
        """Refuse the language of a source where there are just two texts: which is which?"""
        if self.src_lang is not None or self.pair is not None:
            raise InputError(
                "two texts have no source: give the language of the first text with --lang, and "
                "that of the second with --ref-lang"
            )


@dataclass(frozen=True)
class TableOptions:
    """How tables are read."""

    format: str | None = option(
        None, "tsv, csv, jsonl or parquet. Default: by file name.", panel=INPUT
    )
    header: bool = option(
        True,
        "Whether the first line names the columns; otherwise they are 1, 2, ...",
        "--header/--no-header",
        panel=INPUT,
    )
    replace_invalid: ReplaceInvalid = False
    quoting: bool | None = option(
        None,
        "Whether fields of TSV may be quoted, as pandas writes them. Default: an error.",
        "--quoting/--no-quoting",
        panel=INPUT,
    )

    @property
    def reading(self) -> dict[str, Any]:
        """The arguments of :func:`tertium.data.records.open_table`."""
        return {
            "format": self.format,
            "header": self.header,
            "replace_invalid": self.replace_invalid,
            "quoting": self.quoting,
        }


@dataclass(frozen=True)
class FileOptions:
    """Parallel files."""

    hyp: list[Path] | None = option(
        None,
        "Hypotheses, one per line. Several files are several systems.",
        "--hyp",
        "-t",
        metavar="FILE...",
    )
    ref: References = None
    src: Source = None


@dataclass(frozen=True)
class PairOptions(TableOptions, FileOptions):
    """Files of hypotheses, references and sources, or columns of a table with them."""

    ref_column: RefColumn = None
    src_column: SrcColumn = None
    lang_column: str | None = option(None, "The column of the hypotheses' language.", panel=INPUT)
    ref_lang_column: str | None = option(
        None, "The column of the references' language.", panel=INPUT
    )
    src_lang_column: SrcLangColumn = None

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that are given, by role."""
        return {
            "refs": self.ref_column or [],
            "src": self.src_column,
            "lang": self.lang_column,
            "ref_lang": self.ref_lang_column,
            "src_lang": self.src_lang_column,
        }


@dataclass(frozen=True)
class TextOptions(PairOptions):
    """The same, and texts themselves."""

    hyp_column: HypColumn = None
    as_text: AsText = False

    @property
    def columns(self) -> dict[str, Any]:
        return {"hyp": self.hyp_column, **super().columns}


@dataclass(frozen=True)
class MeasureOptions:
    """Measures and their settings."""

    measure: list[str] | None = option(
        None,
        "One or several measures: -m bleu chrf. With model and settings: "
        f"cross@MODEL:beam_size=1. `tertium measures` lists them. Default: {DEFAULT_MEASURE}.",
        "--measure",
        "-m",
        metavar="NAME...",
    )
    against: str | None = option(
        None, "Compare with the reference (default) or with the source.", panel=MEASURES
    )
    long: str | None = option(
        None,
        "Texts beyond the model's length: split into aligned sentences (default), or cut; "
        "always: split all texts.",
        panel=MEASURES,
        hidden=True,
        metavar="split|cut|always",
    )
    settings: list[str] | None = option(
        None,
        "A setting of a measure: --set base=2 --set tokenize=zh.",
        "--set",
        panel=MEASURES,
        metavar="NAME=VALUE",
    )

    def specs(self, **settings: object) -> tuple[MeasureSpec, ...]:
        """The measures; ``settings`` are those that no option gives."""
        given = {"against": self.against, "long": self.long, **settings}
        return read_specs(
            self.measure or [DEFAULT_MEASURE], given=given, written=self.settings or []
        )


@dataclass(frozen=True)
class TranslationModelOptions:
    """A translation model, and how it is run."""

    model: Model = DEFAULT_MODEL
    compute_type: ComputeType = "auto"
    device: str = option(
        "cpu",
        "Where the translation model runs. Tertium is tested on processors only.",
        panel=ENGINE,
        metavar="cpu|cuda|auto",
        hidden=True,
    )
    threads: Threads = None
    no_cache: NoCache = False

    def __post_init__(self) -> None:
        refuse_trained_metrics(self.model)

    @property
    def chosen(self) -> ModelSettings:
        """The models to load."""
        return ModelSettings(
            self.model,
            compute_type=self.compute_type,
            device=self.device,
            threads=self.threads,
            cache=not self.no_cache,
        )


@dataclass(frozen=True)
class EncoderOptions(TranslationModelOptions):
    """The same, and an encoder."""

    encoder: Encoder = None
    layer: Layer = None

    @property
    def chosen(self) -> ModelSettings:
        return replace(super().chosen, encoder=self.encoder, layer=self.layer)


@dataclass(frozen=True)
class ModelOptions(EncoderOptions):
    """All kinds of models that measures use."""

    sentence_encoder: str | None = option(
        None, "Sentence encoder of sss and sentsim.", panel=ENGINE, metavar="NAME"
    )

    @property
    def chosen(self) -> ModelSettings:
        return replace(super().chosen, sentence_encoder=self.sentence_encoder)


@dataclass(frozen=True)
class ClusterOptions:
    """Where a job runs."""

    engine: EngineName = option(
        EngineName.local,
        "Run in this process, or on a Ray cluster.",
        panel=ENGINE,
        metavar="local|ray",
    )
    address: str | None = option(
        None,
        "Address of a Ray cluster (or $RAY_ADDRESS). Default: start Ray on this machine.",
        panel=ENGINE,
    )
    workers: int | None = option(
        None, "Number of workers. Default: as many as there is room for.", panel=ENGINE, min=1
    )

    def chosen(self, threads: int | None) -> ClusterSettings | None:
        """The cluster; None is this process."""
        return chosen_cluster(self.engine, self.address, self.workers, threads)


@dataclass(frozen=True)
class PrintOptions:
    """What is printed, and how much is said about it."""

    panel: ClassVar[str] = OUTPUT

    output: Path | None = option(
        None, "Write the rows to a .tsv, .csv, .jsonl or .parquet file.", "--output", "-o"
    )
    output_format: OutputFormat | None = option(
        None,
        "Print as text, markdown, latex, csv, tsv or json.",
        "--output-format",
        "-f",
        metavar="FORMAT",
    )
    as_json: bool = option(False, "The same as -f json.", "--json", hidden=True)
    width: int | None = option(
        None, "Decimals of the scores that are printed.", "--width", "-w", min=0
    )
    force: Force = False
    quiet: Quiet = False
    verbose: bool = option(False, "Log what is done.", "--verbose", "-v", panel=OUTPUT)

    def __post_init__(self) -> None:
        log_to_terminal(self.verbose)
        if self.output_format is OutputFormat.json:
            object.__setattr__(self, "as_json", True)
        if self.as_json:
            object.__setattr__(self, "output_format", OutputFormat.json)

    def check(self, inputs: Iterable[str | Path], *others: Path | None) -> None:
        """Refuse outputs that cannot be written, that exist, or that are inputs."""
        inputs = list(inputs)
        for path in (self.output, *others):
            if path is None:
                continue
            check_output_file(path)
            refuse_as_output(path, inputs)
            refuse_existing(path, force=self.replaces(path))

    def replaces(self, path: Path) -> bool:
        """Whether an existing file may be replaced."""
        return self.force

    def layout(self, default: Layout) -> Layout:
        """How rows are printed: as requested, or else by default."""
        found = default if self.output_format is None else PRINTED[self.output_format]()
        found.digits = self.width
        return found


@dataclass(frozen=True)
class RowOptions(PrintOptions):
    """The same for rows that are processed one part after the other, and saved."""

    resume: bool = option(False, "Resume an interrupted run.", panel=OUTPUT)
    overwrite: bool = option(False, "Discard an interrupted run and start over.", panel=OUTPUT)

    def replaces(self, path: Path) -> bool:
        return self.force or (path == self.output and (self.resume or self.overwrite))

    def running(self, cluster: ClusterSettings | None = None, what: str = "rows") -> Running:
        """What runs a job with these options."""
        return Running(
            self.output,
            self.resume,
            self.overwrite,
            self.quiet,
            cluster,
            what=what,
            force=self.force,
        )


@dataclass(frozen=True)
class StatisticsOptions:
    """The bootstrap."""

    panel: ClassVar[str] = STATISTICS

    samples: int = option(
        SAMPLES, "Samples of the bootstrap and of permutation tests.", min=1, hidden=True
    )
    seed: int = option(0, "Seed of the samples.", min=0, hidden=True)


def say(*messages: str) -> None:
    """Print to standard error."""
    for message in messages:
        print(message, file=sys.stderr)


def refuse_together(given: Mapping[str, bool], why: str) -> None:
    """Refuse options that are given although something else excludes them."""
    names: Sequence[str] = [name for name, is_given in given.items() if is_given]
    if names:
        raise InputError(f"{', '.join(names)}: {why}")

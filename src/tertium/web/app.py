"""The app: its addresses, and what goes wrong as an answer."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, TypeVar

from fastapi import Body, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from tertium._version import __version__
from tertium.errors import InputError, LanguageError, SettingError
from tertium.measures.registry import (
    DEFAULT_MEASURE,
    SUMS,
    extras_of,
    measure_class,
    measure_names,
    settings_of,
)
from tertium.report.style import style
from tertium.web import explaining, requests, responses, scoring
from tertium.web.batching import Call, StoppedError
from tertium.web.engines import Loaded
from tertium.web.fragment import fragment
from tertium.web.guard import Guard
from tertium.web.limits import Limits
from tertium.web.service import FullError, Service

Answer = TypeVar("Answer")

STATIC = Path(__file__).with_name("static")
KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
RETRY_SECONDS = 2

ERRORS: dict[int | str, dict[str, object]] = {
    400: {"model": responses.ErrorAnswer, "description": "The texts or settings cannot be used."},
    401: {"model": responses.ErrorAnswer, "description": "A token is needed."},
    408: {"model": responses.ErrorAnswer, "description": "The request did not come to an end."},
    413: {"model": responses.ErrorAnswer, "description": "More than is taken at a time."},
    422: {"model": responses.ErrorAnswer, "description": "Not a request of this kind."},
    503: {"model": responses.ErrorAnswer, "description": "Too many at once: see Retry-After."},
    504: {"model": responses.ErrorAnswer, "description": "It would take too long."},
}
log = logging.getLogger("tertium.web")


def create_app(
    models: Loaded,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Collection[str] = LOOPBACK_NAMES,
    log_texts: bool = False,
) -> FastAPI:
    """Make the app over models that are loaded; ``hosts`` are the names that it goes by."""
    limits = limits or Limits()
    service = Service(models, limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="Tertium",
        summary="How far do two texts mean the same?",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    app.add_middleware(Guard, limits=limits, token=token, hosts=hosts)
    _add_errors(app)
    _add_work(app, service, log_texts)
    _add_facts(app, service)
    _add_pages(app)
    return app


def _add_work(app: FastAPI, service: Service, log_texts: bool) -> None:
    engines, limits = service.engines, service.limits

    async def run(request: Request, asked: requests.Said, work: Callable[[Call], Answer]) -> Answer:
        if log_texts:
            log.info("%s %s", request.url.path, asked.model_dump_json(exclude_none=True))
        return await service.run(work, lambda: _gone(request))

    @app.post("/api/score", responses=ERRORS)
    async def score(
        request: Request, asked: Annotated[requests.ScoreRequest, Body()]
    ) -> responses.ScoreAnswer:
        """Score pairs (hypothesis and reference or source) or triples, by one or more measures."""
        return await run(request, asked, lambda call: scoring.score(asked, engines, limits, call))

    @app.post("/api/explain", responses=ERRORS)
    async def explain(
        request: Request, asked: Annotated[requests.ExplainRequest, Body()]
    ) -> responses.ExplainAnswer:
        """Show token log-probabilities both ways, translations, alignment and transport."""
        return await run(
            request,
            asked,
            lambda call: explaining.answer(explaining.explain_pair(asked, engines, limits, call)),
        )

    @app.post("/api/explain.html", include_in_schema=False)
    async def explain_html(
        request: Request, asked: Annotated[requests.ExplainRequest, Body()]
    ) -> Response:
        found = await run(
            request,
            asked,
            lambda call: fragment(explaining.explain_pair(asked, engines, limits, call)),
        )
        return Response(found, media_type="text/html")

    @app.post("/api/translate", responses=ERRORS)
    async def translate(
        request: Request, asked: Annotated[requests.TranslateRequest, Body()]
    ) -> responses.TranslateAnswer:
        """Translate texts into one language."""

        def work(call: Call) -> responses.TranslateAnswer:
            scoring.check_texts(asked.texts, limits)
            model = engines.model(call)
            found = model.translate(
                asked.texts,
                target_lang=asked.target_lang,
                source_lang=asked.source_lang,
                beam_size=asked.beam_size,
            )
            return responses.TranslateAnswer(
                model=model.name,
                fingerprint=model.fingerprint,
                translations=[
                    responses.TranslationAnswer(text=each.text, cut=each.cut) for each in found
                ],
            )

        return await run(request, asked, work)


def _add_facts(app: FastAPI, service: Service) -> None:
    models, limits = service.engines.models, service.limits

    @app.get("/api/models", responses={401: ERRORS[401]})
    async def list_models() -> responses.ModelsAnswer:
        """List the models that were loaded at the start; there are no others."""
        translation = models.translation
        found = [
            responses.ModelAnswer(
                role="translation",
                name=translation.name,
                fingerprint=translation.fingerprint,
                settings=dict(translation.settings),
                source_languages=sorted(translation.languages.source),
                target_languages=sorted(translation.languages.target),
                needs_source_language=translation.needs_source_language,
            ),
            responses.ModelAnswer(
                role="tokens",
                name=models.tokens.name,
                fingerprint=models.tokens.fingerprint,
                settings=dict(models.tokens.settings),
            ),
            responses.ModelAnswer(
                role="sentences",
                name=models.sentences.name,
                fingerprint=models.sentences.fingerprint,
                settings=dict(models.sentences.settings),
            ),
        ]
        return responses.ModelsAnswer(models=found)

    @app.get("/api/measures", responses={401: ERRORS[401]})
    async def list_measures() -> responses.MeasuresAnswer:
        """List the measures, and how much may be asked at a time."""
        return responses.MeasuresAnswer(
            version=__version__,
            default=DEFAULT_MEASURE,
            measures=[
                _measure(name, models.translation.needs_source_language)
                for name in available_measures()
            ],
            limits=responses.LimitsAnswer(
                **{name: getattr(limits, name) for name in responses.LimitsAnswer.model_fields}
            ),
        )

    @app.get("/healthz", responses={503: ERRORS[503]})
    async def health() -> responses.HealthAnswer:
        """Say whether the engines are at work."""
        if not service.engines.alive:
            raise FullError
        return responses.HealthAnswer(status="ok", waiting=service.waiting)


def _add_pages(app: FastAPI) -> None:
    """Serve the files of the page, read once: no name from a client reaches the file system."""
    files = {
        path.name: (path.read_bytes(), KINDS[path.suffix])
        for path in STATIC.iterdir()
        if path.suffix in KINDS
    }
    files["tertium.css"] = (style().encode(), KINDS[".css"])

    def serve(name: str) -> Response:
        if name not in files:
            return JSONResponse({"detail": "Not Found"}, 404)
        content, kind = files[name]
        return Response(content, media_type=kind)

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return serve("index.html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return serve("docs.html")

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        return serve(name)


def _add_errors(app: FastAPI) -> None:
    def answer(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
        whole = detail.encode("utf-8", "replace").decode()  # half a character is no answer
        return JSONResponse({"detail": whole}, status, headers)

    async def refused(_: Request, error: Exception) -> JSONResponse:
        return answer(413 if isinstance(error, scoring.TooLargeError) else 400, str(error))

    async def misspelt(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        faults = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:5]
        ]
        return answer(422, "; ".join(faults))

    async def full(_: Request, __: Exception) -> JSONResponse:
        return answer(
            503, "too many requests at once; try again", {"Retry-After": str(RETRY_SECONDS)}
        )

    async def stopped(_: Request, error: Exception) -> JSONResponse:
        return answer(504, str(error))

    for kind in (InputError, LanguageError, SettingError):
        app.add_exception_handler(kind, refused)
    app.add_exception_handler(RequestValidationError, misspelt)
    app.add_exception_handler(FullError, full)
    app.add_exception_handler(StoppedError, stopped)


async def _gone(request: Request) -> None:
    """Wait until the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        await asyncio.sleep(0)


def available_measures() -> list[str]:
    """Those for which all is installed."""
    return [
        name
        for name in measure_names()
        if all(find_spec(module) for extra in extras_of(name) for module in extra.modules)
    ]


def _measure(name: str, needs_source_language: bool) -> responses.MeasureAnswer:
    allowed = requests.Settings.model_fields
    settings = [setting for setting in settings_of(name) if setting in allowed]
    if name in SUMS:
        about = f"The sum of {' and '.join(SUMS[name])}."
        return responses.MeasureAnswer(
            name=name,
            about=about,
            compares_with="reference",
            model="tokens",
            low=1.0,
            high=math.e,
            needs_languages=False,
            settings=settings,
        )
    cls = measure_class(name)
    low, high = cls.bounds if isinstance(cls.bounds, tuple) else (-math.inf, 0.1)
    return responses.MeasureAnswer(
        name=name,
        about=cls.summary,
        compares_with=cls.against,
        model=cls.model_kind,
        low=low if math.isfinite(low) else None,
        high=high if math.isfinite(high) else None,
        needs_languages=cls.model_kind == "translation"
        and (name != "cross" or needs_source_language),
        settings=settings,
    )

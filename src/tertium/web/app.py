"""The FastAPI app: its routes and error handlers."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Body, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from tertium._version import __version__
from tertium.errors import InputError, LanguageError, SettingError
from tertium.explanation.page import explanation_fragment
from tertium.measures.registry import (
    DEFAULT_MEASURE,
    SUMS,
    extras_of,
    kinds_of,
    measure_class,
    measure_names,
    settings_of,
)
from tertium.models.base import SentenceEncoder, TranslationModel
from tertium.report.style import style_sheet
from tertium.web import explaining, schema, scoring
from tertium.web.batching import Call, StoppedError
from tertium.web.engines import Loaded
from tertium.web.guard import Guard
from tertium.web.limits import Limits, TooLargeError
from tertium.web.service import FullError, Service

Result = TypeVar("Result")

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
    400: {"model": schema.ErrorResponse, "description": "The texts or settings cannot be used."},
    401: {"model": schema.ErrorResponse, "description": "A token is required."},
    408: {"model": schema.ErrorResponse, "description": "The request was not received in time."},
    413: {"model": schema.ErrorResponse, "description": "The request is too large."},
    422: {"model": schema.ErrorResponse, "description": "The request is malformed."},
    503: {"model": schema.ErrorResponse, "description": "Too many requests: see Retry-After."},
    504: {"model": schema.ErrorResponse, "description": "The request takes too long."},
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
    """Make the app for loaded models; ``hosts`` are the allowed names of the server."""
    limits = limits or Limits()
    service = Service(models, limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(
        title="Tertium",
        summary="How similar in meaning are two texts?",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    app.add_middleware(Guard, limits=limits, token=token, hosts=hosts)
    _add_errors(app)
    _add_operations(app, service, log_texts)
    _add_lists(app, service)
    _add_pages(app)
    return app


def _add_operations(app: FastAPI, service: Service, log_texts: bool) -> None:
    engines, limits = service.engines, service.limits

    async def run(
        request: Request, body: schema.RequestModel, work: Callable[[Call], Result]
    ) -> Result:
        if log_texts:
            log.info("%s %s", request.url.path, body.model_dump_json(exclude_none=True))
        return await service.run(work, lambda: _disconnected(request))

    @app.post("/api/score", responses=ERRORS)
    async def score(
        request: Request, body: Annotated[schema.ScoreRequest, Body()]
    ) -> schema.ScoreResponse:
        """Score pairs (hypothesis and reference or source) or triples with one or more measures."""
        return await run(request, body, lambda call: scoring.score(body, engines, limits, call))

    @app.post("/api/explain", responses=ERRORS)
    async def explain(
        request: Request, body: Annotated[schema.ExplainRequest, Body()]
    ) -> schema.ExplainResponse:
        """Explain scores: token log-probabilities, translations, alignment and transport plan."""
        return await run(
            request,
            body,
            lambda call: explaining.response(explaining.explain_pair(body, engines, limits, call)),
        )

    @app.post("/api/explain.html", include_in_schema=False)
    async def explain_html(
        request: Request, body: Annotated[schema.ExplainRequest, Body()]
    ) -> Response:
        html = await run(
            request,
            body,
            lambda call: explanation_fragment(explaining.explain_pair(body, engines, limits, call)),
        )
        return Response(html, media_type="text/html")

    @app.post("/api/translate", responses=ERRORS)
    async def translate(
        request: Request, body: Annotated[schema.TranslateRequest, Body()]
    ) -> schema.TranslateResponse:
        """Translate texts into one language."""

        def work(call: Call) -> schema.TranslateResponse:
            limits.check_translation(body.texts)
            model = engines.model(call)
            translations = model.translate(
                body.texts,
                target_lang=body.target_lang,
                source_lang=body.source_lang,
                beam_size=body.beam_size,
            )
            return schema.TranslateResponse(
                model=model.name,
                fingerprint=model.fingerprint,
                translations=[
                    schema.TranslationResponse(text=each.text, cut=each.cut)
                    for each in translations
                ],
            )

        return await run(request, body, work)


def _add_lists(app: FastAPI, service: Service) -> None:
    models, limits = service.engines.models, service.limits

    @app.get("/api/models", responses={401: ERRORS[401]})
    async def list_models() -> schema.ModelsResponse:
        """List the models, which were loaded at the start."""
        translation = models.translation
        loaded = [
            _model(
                "translation",
                translation,
                source_languages=sorted(translation.languages.source),
                target_languages=sorted(translation.languages.target),
                needs_source_language=translation.needs_source_language,
            ),
            _model("tokens", models.tokens),
            _model("sentences", models.sentences),
        ]
        return schema.ModelsResponse(models=loaded)

    @app.get("/api/measures", responses={401: ERRORS[401]})
    async def list_measures() -> schema.MeasuresResponse:
        """List the measures, and the limits of a request."""
        return schema.MeasuresResponse(
            version=__version__,
            default=DEFAULT_MEASURE,
            measures=[
                _measure(name, models.translation.needs_source_language)
                for name in available_measures()
            ],
            limits=limits,
        )

    @app.get("/healthz", responses={503: ERRORS[503]})
    async def health() -> schema.HealthResponse:
        """Check whether the engines are running."""
        if not service.engines.alive:
            raise FullError
        return schema.HealthResponse(status="ok", waiting=service.waiting)


def _add_pages(app: FastAPI) -> None:
    """Serve the static files, read once: no name from a client reaches the file system."""
    files = {
        path.name: (path.read_bytes(), KINDS[path.suffix])
        for path in STATIC.iterdir()
        if path.suffix in KINDS
    }
    files["tertium.css"] = (style_sheet().encode(), KINDS[".css"])

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
    def response(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
        text = detail.encode("utf-8", "replace").decode()  # it may quote half a character
        return JSONResponse({"detail": text}, status, headers)

    async def refused(_: Request, error: Exception) -> JSONResponse:
        return response(413 if isinstance(error, TooLargeError) else 400, str(error))

    async def malformed(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        faults = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:5]
        ]
        return response(422, "; ".join(faults))

    async def full(_: Request, __: Exception) -> JSONResponse:
        return response(
            503, "too many requests; try again later", {"Retry-After": str(RETRY_SECONDS)}
        )

    async def stopped(_: Request, error: Exception) -> JSONResponse:
        return response(504, str(error))

    for kind in (InputError, LanguageError, SettingError):
        app.add_exception_handler(kind, refused)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(FullError, full)
    app.add_exception_handler(StoppedError, stopped)


async def _disconnected(request: Request) -> None:
    """Wait until the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        await asyncio.sleep(0)


def available_measures() -> list[str]:
    """List the measures whose packages are installed."""
    return [
        name
        for name in measure_names()
        if "language" not in kinds_of(name)
        and all(find_spec(module) for extra in extras_of(name) for module in extra.modules)
    ]


def _model(
    role: schema.Role, model: TranslationModel | SentenceEncoder, **languages: Any
) -> schema.ModelResponse:
    return schema.ModelResponse(
        role=role,
        name=model.name,
        fingerprint=model.fingerprint,
        settings=dict(model.settings),
        **languages,
    )


def _measure(name: str, needs_source_language: bool) -> schema.MeasureResponse:
    allowed = schema.Settings.model_fields
    settings = [setting for setting in settings_of(name) if setting in allowed]
    if name in SUMS:
        about = f"The sum of {' and '.join(SUMS[name])}."
        return schema.MeasureResponse(
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
    return schema.MeasureResponse(
        name=name,
        about=cls.summary,
        compares_with=cls.against,
        model=cls.model_kind if cls.model_kind != "language" else None,
        low=low if math.isfinite(low) else None,
        high=high if math.isfinite(high) else None,
        needs_languages=cls.model_kind == "translation"
        and (name != "cross" or needs_source_language),
        settings=settings,
    )

"""The FastAPI app: its routes and error handlers."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Body, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.security import HTTPBearer

from tertium._version import __version__
from tertium.comparison.page import comparison_page
from tertium.errors import InputError, LanguageError, SettingError
from tertium.explanation.page import explanation_fragment
from tertium.measures.registry import DEFAULT_MEASURE
from tertium.web import (
    comparing,
    documentation,
    explaining,
    files,
    lists,
    reading,
    schema,
    scoring,
)
from tertium.web.batching import Call, StoppedError
from tertium.web.guard import Compressed, Guard
from tertium.web.limits import Limits, TooLargeError
from tertium.web.models import Loaded
from tertium.web.service import Emit, FullError, LeftError, Line, Service
from tertium.web.words import said

Result = TypeVar("Result")

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
COMPRESSED_BYTES = 1000
NDJSON = "application/x-ndjson"
RETRY_SECONDS = 2
LEFT = 499
"""The status in the log of a request whose client has left, as nginx has it; nobody receives it."""

ERRORS: dict[int | str, dict[str, object]] = {
    400: {"model": schema.ErrorResponse, "description": "The texts or settings cannot be used."},
    401: {"model": schema.ErrorResponse, "description": "A token is required."},
    408: {"model": schema.ErrorResponse, "description": "The request was not received in time."},
    413: {"model": schema.ErrorResponse, "description": "The request is too large."},
    415: {"model": schema.ErrorResponse, "description": "Content-Type is not application/json."},
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
    app.add_middleware(Compressed, minimum_size=COMPRESSED_BYTES)
    app.add_middleware(Guard, limits=limits, token=token, hosts=hosts)
    _add_errors(app)
    # The guard checks the token; this describes it.
    bearer = HTTPBearer(auto_error=False, description="The token that the server was started with.")
    api = APIRouter(dependencies=[] if token is None else [Depends(bearer)])
    _add_operations(api, service, log_texts)
    _add_lists(api, service)
    app.include_router(api)
    _add_pages(app, service)
    return app


def _add_operations(api: APIRouter, service: Service, log_texts: bool) -> None:
    engines, limits = service.engines, service.limits

    def record(request: Request, body: schema.RequestModel) -> None:
        if log_texts:  # as ASCII: a text could otherwise forge a line, or control a terminal
            log.info("%s %s", request.url.path, json.dumps(body.model_dump(exclude_none=True)))

    async def run(
        request: Request, body: schema.RequestModel, work: Callable[[Call], Result]
    ) -> Result:
        record(request, body)
        return await service.run(work, lambda: _disconnected(request))

    async def stream(
        request: Request, body: schema.RequestModel, work: Callable[[Call, Emit], None]
    ) -> StreamingResponse:
        record(request, body)
        lines = service.stream(work)
        first = await anext(lines)  # what is refused at once has a status of its own
        return StreamingResponse(_ndjson(first, lines), media_type=NDJSON)

    @api.post("/api/score", responses=ERRORS)
    async def score(
        request: Request, body: Annotated[schema.ScoreRequest, Body()]
    ) -> schema.ScoreResponse:
        """Score pairs (hypothesis and reference or source) or triples with one or more measures."""
        return await run(request, body, lambda call: scoring.score(body, engines, limits, call))

    @api.post(
        "/api/score/file",
        response_class=StreamingResponse,
        responses={**ERRORS, 200: {"content": {NDJSON: {}}, "description": "One object per line."}},
    )
    async def score_file(
        request: Request, body: Annotated[schema.FileScoreRequest, Body()]
    ) -> StreamingResponse:
        """Score a file. The response is a stream of JSON objects, one per line.

        The first says how many rows there are, then comes one for each row as soon as it is
        scored, and in the end the summary: system scores and signatures. A row that cannot be
        scored has an error instead of scores; an error that ends the stream is the last line.
        """
        return await stream(
            request,
            body,
            lambda call, emit: scoring.score_file(body, engines, limits, call, emit),
        )

    @api.post("/api/read", responses=ERRORS)
    async def read(
        request: Request, body: Annotated[schema.FileRequest, Body()]
    ) -> schema.ReadResponse:
        """Read a file without scoring it: its columns, first rows, and a guess of its languages."""
        return await run(
            request,
            body,
            lambda _: reading.response(
                reading.read(body, limits), engines.models.translation.languages
            ),
        )

    @api.post("/api/compare", responses=ERRORS)
    async def compare(
        request: Request, body: Annotated[schema.CompareRequest, Body()]
    ) -> schema.CompareResponse:
        """Compare two or more systems: ranking, intervals, p-values, and where they differ."""

        def work(call: Call) -> schema.CompareResponse:
            result = comparing.compare(body, engines, limits, call)
            return schema.CompareResponse.model_validate(result.document(count=body.shown))

        return await run(request, body, work)

    @api.post("/api/compare/stream", include_in_schema=False)
    async def compare_stream(
        request: Request, body: Annotated[schema.CompareRequest, Body()]
    ) -> StreamingResponse:
        def work(call: Call, emit: Emit) -> None:
            result = comparing.compare(body, engines, limits, call, emit)
            emit({"page": comparison_page(result, segments=body.shown)})

        return await stream(request, body, work)

    @api.post("/api/spans", responses=ERRORS)
    async def spans(
        request: Request, body: Annotated[schema.SpansRequest, Body()]
    ) -> schema.SpansResponse:
        """Find where two texts differ: omissions, additions and other spans, with the evidence."""
        return await run(
            request, body, lambda call: explaining.find_spans(body, engines, limits, call)
        )

    @api.post("/api/identify", responses=ERRORS)
    async def identify(
        request: Request, body: Annotated[schema.IdentifyRequest, Body()]
    ) -> schema.IdentifyResponse:
        """Identify the language of each text; null where it is not certain enough."""
        languages = engines.models.translation.languages
        return await run(request, body, lambda _: reading.identified(body, languages, limits))

    @api.post("/api/explain", responses=ERRORS)
    async def explain(
        request: Request, body: Annotated[schema.ExplainRequest, Body()]
    ) -> schema.ExplainResponse:
        """Explain scores: token log-probabilities, translations, alignment and transport plan."""
        return await run(
            request,
            body,
            lambda call: explaining.response(explaining.explain_pair(body, engines, limits, call)),
        )

    @api.post("/api/explain.html", include_in_schema=False)
    async def explain_html(
        request: Request, body: Annotated[schema.ExplainRequest, Body()]
    ) -> Response:
        html = await run(
            request,
            body,
            lambda call: explanation_fragment(explaining.explain_pair(body, engines, limits, call)),
        )
        return Response(html, media_type="text/html")

    @api.post("/api/translate", responses=ERRORS)
    async def translate(
        request: Request, body: Annotated[schema.TranslateRequest, Body()]
    ) -> schema.TranslateResponse:
        """Translate texts into one language."""
        return await run(
            request, body, lambda call: explaining.translate(body, engines, limits, call)
        )


async def _ndjson(first: Line, lines: AsyncIterator[Line]) -> AsyncIterator[bytes]:
    """One object per line; an error that comes after the beginning is the last line."""

    def line(content: Line) -> bytes:
        return json.dumps(content, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    yield line(first)
    try:
        async for each in lines:
            yield line(each)
    except (InputError, LanguageError, SettingError, StoppedError) as error:
        yield line({"error": said(error)})


def _add_lists(api: APIRouter, service: Service) -> None:
    models, limits = service.engines.models, service.limits

    @api.get("/api/models", responses={401: ERRORS[401]})
    async def list_models() -> schema.ModelsResponse:
        """List the models, which were loaded at the start."""
        return lists.models_response(models)

    @api.get("/api/measures", responses={401: ERRORS[401]})
    async def list_measures() -> schema.MeasuresResponse:
        """List the measures with their settings and a reference scale, and the limits."""
        return schema.MeasuresResponse(
            version=__version__,
            default=DEFAULT_MEASURE,
            measures=[
                lists.measure_response(name, models, service.scale.get(name, {}))
                for name in lists.available_measures()
            ],
            limits=limits,
        )


def _add_pages(app: FastAPI, service: Service) -> None:
    """Serve the page, its files and the documentation."""
    static = files.static_files()
    answers: dict[str, str] = {}

    def serve(name: str, version: str | None = None) -> Response:
        if name not in static:
            return JSONResponse({"detail": "Not Found"}, 404)
        file = static[name]
        kept = {"Cache-Control": files.FOREVER} if version == file.version else None
        return Response(file.content, media_type=file.kind, headers=kept)

    def page(path: str) -> Callable[[Any], Any]:
        return app.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)

    @app.get("/healthz", responses={503: ERRORS[503]})
    async def health() -> schema.HealthResponse:
        """Check whether the engines are running."""
        if not service.engines.alive:
            raise FullError
        return schema.HealthResponse(status="ok", waiting=service.waiting)

    @page("/")
    async def index() -> Response:
        return serve(files.PAGE)

    @page("/docs")
    async def docs(request: Request) -> Response:
        if not answers:  # those of this server, made for the first reader
            engines, limits = service.engines, service.limits
            answers.update(
                await service.run(
                    lambda call: documentation.answers(engines, limits, call),
                    lambda: _disconnected(request),
                )
            )
        address = str(request.base_url).rstrip("/")
        html = documentation.page(app.openapi(), address, answers)
        return Response(files.versioned(str(html), static), media_type="text/html")

    @page("/static/{name}")
    async def file(name: str, v: str | None = None) -> Response:
        return serve(name, v)


def _add_errors(app: FastAPI) -> None:
    def response(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
        text = detail.encode("utf-8", "replace").decode()  # it may quote half a character
        return JSONResponse({"detail": text}, status, headers)

    async def refused(_: Request, error: Exception) -> JSONResponse:
        return response(413 if isinstance(error, TooLargeError) else 400, said(error))

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

    async def left(_: Request, __: Exception) -> Response:
        return Response(status_code=LEFT)

    for kind in (InputError, LanguageError, SettingError):
        app.add_exception_handler(kind, refused)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(FullError, full)
    app.add_exception_handler(StoppedError, stopped)
    app.add_exception_handler(LeftError, left)


async def _disconnected(request: Request) -> None:
    """Wait until the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        await asyncio.sleep(0)

"""The documentation of the API at ``/docs``: written by the server, readable without scripts.

FastAPI's own page (Swagger UI) is not used: it is 1.4 MB of scripts, needs an inline script that
our content security policy forbids, is blank without scripts, and shows neither what this server
answers to the example requests, nor its measures, nor how to call it from Python.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tertium.errors import TertiumError
from tertium.measures.registry import range_of, summary_of
from tertium.report.page import render
from tertium.web import comparing, explaining, lists, reading, schema, scoring
from tertium.web.batching import Call
from tertium.web.limits import Limits
from tertium.web.models import BatchedEngines
from tertium.web.service import Line
from tertium.web.words import said

PAIR = {"hypothesis": "I see a dog.", "reference": "I see a cat.", "lang": "en"}
TABLE = "hyp\tref\nI see a dog.\tI see a cat.\nIt is raining.\tIt rains.\n"
SHOWN_CHARACTERS = 1600

REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "/api/score": {
        "pairs": [{"hypothesis": "I see a dog.", "reference": "I see a cat."}],
        "measures": ["cross", "chrf++"],
        "lang": "en",
    },
    "/api/score/file": {
        "file": {"name": "pairs.tsv", "text": TABLE},
        "measures": ["cross", "chrf"],
        "lang": "en",
    },
    "/api/read": {"file": {"name": "pairs.tsv", "text": TABLE}},
    "/api/compare": {
        "systems": [
            {"name": "one.txt", "text": "I see a dog.\nIt is raining.\n"},
            {"name": "two.txt", "text": "I see the cat.\nIt does rain.\n"},
        ],
        "references": [{"name": "ref.txt", "text": "I see a cat.\nIt is raining.\n"}],
        "measures": ["chrf"],
        "lang": "en",
        "shown": 0,
    },
    "/api/spans": {
        "hypothesis": "I saw a big brown dog in the garden.",
        "reference": "I saw a dog in the garden.",
        "lang": "en",
    },
    "/api/identify": {"texts": ["Where is the station?", "Wo ist der Bahnhof?", "123"]},
    "/api/explain": {**PAIR, "parts": ["translations"]},
    "/api/translate": {"texts": ["Where is the station?"], "target_lang": "de"},
}
"""An example for each operation, by its path."""


@dataclass(frozen=True)
class Field:
    """A field of a request or a response."""

    name: str
    kind: str
    required: bool
    default: str
    about: str


@dataclass(frozen=True)
class Operation:
    """What the page shows about one operation."""

    method: str
    path: str
    about: str
    request: list[Field]
    response: list[Field]
    curl: str
    python: str
    answer: str
    errors: list[tuple[str, str]]

    @property
    def anchor(self) -> str:
        return f"{self.method}{self.path.replace('/', '-')}"


def page(description: Mapping[str, Any], address: str, answers: Mapping[str, str]) -> str:
    """Render the documentation; ``answers`` are those of this server, by path."""
    return render(
        "web/templates/docs.html",
        address=address,
        operations=list(operations(description, address, answers)),
        measures=[
            (name, summary_of(name), range_of(name), lists.setting_names(name))
            for name in lists.available_measures()
        ],
        schemas=[
            (name, each.get("description", ""), fields(each))
            for name, each in description["components"]["schemas"].items()
            if each.get("properties")
        ],
        token="HTTPBearer" in description["components"].get("securitySchemes", {}),
    )


def operations(
    description: Mapping[str, Any], address: str, answers: Mapping[str, str]
) -> Iterator[Operation]:
    """Describe every operation, with examples."""
    schemas = description["components"]["schemas"]

    def named(content: Mapping[str, Any]) -> list[Field]:
        reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
        return fields(schemas[reference.rpartition("/")[2]]) if reference else []

    for path, methods in description["paths"].items():
        for method, details in methods.items():
            yield Operation(
                method.upper(),
                path,
                details.get("description") or details["summary"],
                named(details.get("requestBody", {}).get("content", {})),
                named(details["responses"]["200"].get("content", {})),
                curl(address, path),
                python(address, path),
                answers.get(path, ""),
                [
                    (status, each["description"])
                    for status, each in details["responses"].items()
                    if status != "200"
                ],
            )


def fields(schema_: Mapping[str, Any]) -> list[Field]:
    """The fields of an object."""
    return [
        Field(
            name,
            kind(each),
            name in schema_.get("required", ()),
            "" if each.get("default") in (None, {}, []) else json.dumps(each["default"]),
            each.get("description", ""),
        )
        for name, each in schema_.get("properties", {}).items()
    ]


def kind(described: Mapping[str, Any]) -> str:
    """What a field may hold, in words.

    >>> kind({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]})
    'list of string, or null'
    """
    if "$ref" in described:
        return str(described["$ref"]).rpartition("/")[2]
    if "anyOf" in described:
        return ", or ".join(map(kind, described["anyOf"]))
    if "enum" in described:
        return ", ".join(json.dumps(value) for value in described["enum"])
    if "const" in described:
        return json.dumps(described["const"])
    if described.get("type") == "array":
        return f"list of {kind(described.get('items', {}))}"
    return str(described.get("type", "anything"))


def curl(address: str, path: str) -> str:
    """How to make the example request with curl."""
    if path not in REQUESTS:
        return f"curl {address}{path}"
    body = json.dumps(REQUESTS[path], indent=1).replace("'", "'\\''")
    streamed = " --no-buffer" if path == "/api/score/file" else ""
    return f"curl{streamed} {address}{path} -H 'Content-Type: application/json' -d '{body}'"


def python(address: str, path: str) -> str:
    """How to make the example request with Python."""
    if path not in REQUESTS:
        return f'import httpx\n\nprint(httpx.get("{address}{path}").json())'
    body = json.dumps(REQUESTS[path], indent=4)
    if path == "/api/score/file":
        return (
            f'import httpx, json\n\nrequest = {body}\nurl = "{address}{path}"\n'
            'with httpx.stream("POST", url, json=request, timeout=60) as response:\n'
            "    for line in response.iter_lines():\n        print(json.loads(line))"
        )
    return (
        f'import httpx\n\nrequest = {body}\nresponse = httpx.post("{address}{path}", '
        "json=request, timeout=60)\nresponse.raise_for_status()\nprint(response.json())"
    )


def answers(engines: BatchedEngines, limits: Limits, call: Call) -> dict[str, str]:
    """Answer the example requests, with the models of this server."""

    def file_lines(body: schema.FileScoreRequest) -> list[Line]:
        lines: list[Line] = []
        scoring.score_file(body, engines, limits, call, lines.append)
        return lines

    work: dict[str, tuple[type[schema.RequestModel], Callable[[Any], Any]]] = {
        "/api/score": (
            schema.ScoreRequest,
            lambda body: scoring.score(body, engines, limits, call),
        ),
        "/api/score/file": (schema.FileScoreRequest, file_lines),
        "/api/read": (
            schema.FileRequest,
            lambda body: reading.response(
                reading.read(body, limits), engines.models.translation.languages
            ),
        ),
        "/api/compare": (
            schema.CompareRequest,
            lambda body: comparing.compare(body, engines, limits, call).document(count=0),
        ),
        "/api/spans": (
            schema.SpansRequest,
            lambda body: explaining.find_spans(body, engines, limits, call),
        ),
        "/api/identify": (
            schema.IdentifyRequest,
            lambda body: reading.identified(body, engines.models.translation.languages, limits),
        ),
        "/api/explain": (
            schema.ExplainRequest,
            lambda body: explaining.response(explaining.explain_pair(body, engines, limits, call)),
        ),
        "/api/translate": (
            schema.TranslateRequest,
            lambda body: explaining.translate(body, engines, limits, call),
        ),
    }
    made = {
        "/api/models": _shown(lists.models_response(engines.models)),
        "/healthz": _shown({"status": "ok", "waiting": 0}),
    }
    for path, (model, answer) in work.items():
        try:
            made[path] = _shown(answer(model.model_validate(REQUESTS[path])))
        except TertiumError as error:  # the loaded model may lack a language of the example
            made[path] = _shown({"detail": said(error)})
    return made


def _shown(answer: Any) -> str:
    """An answer as text; of a long one, the beginning."""
    if isinstance(answer, list):
        return "\n".join(json.dumps(line, ensure_ascii=False) for line in answer)
    content = answer if isinstance(answer, dict) else answer.model_dump(exclude_none=True)
    text = json.dumps(content, ensure_ascii=False, indent=1)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + " …"

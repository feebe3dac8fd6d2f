"""Every address: its responses, its refusals, and that no text is logged."""

from __future__ import annotations

import gzip
import json
import logging
import re
import socket
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

import tertium
from tertium.errors import SettingError
from tertium.models.base import Progress, Query, TokenScores
from tertium.web import documentation
from tertium.web.app import create_app
from tertium.web.limits import Limits
from tertium.web.models import Loaded

from ..cli.conftest import Run
from ..fakes import FakeEncoder, FakeModel, LimitedFake
from .conftest import Running, fake_models

Make = Callable[..., TestClient]
PAIR = {"hypothesis": "a b", "reference": "a c"}
TOKEN = "0123456789abcdef"


class GatedModel(FakeModel):
    """Waits for its gate, and counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.calls = 0

    def log_probs(
        self, queries: Sequence[Query], *, progress: Progress | None = None
    ) -> list[TokenScores]:
        self.calls += 1
        assert self.gate.wait(20)
        return super().log_probs(queries, progress=progress)


def score(client: Any, **request: Any) -> Any:
    body = {"pairs": [PAIR], "lang": "en", **request}
    return client.post("/api/score", json=body)


def test_scores_have_the_numbers_and_signatures_of_the_library(client: Make) -> None:
    scores = {("a b", "a c"): (-1.0,), ("a b", "a b"): (-0.5,), ("a c", "a b"): (-2.0,)}
    model = FakeModel({**scores, ("a c", "a c"): (-0.5,)})
    response = score(
        client(model), measures=["direct", "prism-ref", "bertscore", "chrf", "sss+wmd"]
    )
    assert response.status_code == 200, response.text
    result = response.json()
    for name, each in result["measures"].items():
        models = fake_models(model)
        given: Any = {} if name == "chrf" else {"model": models.translation}
        if name in ("bertscore", "sss+wmd"):
            given = {"encoder": models.tokens}
        expected = tertium.load(name, **given).score(["a b"], ["a c"], lang="en")
        assert each["segments"] == expected.segments
        assert each["system"] == expected.system
        assert each["signature"] == expected.signature.long
        assert each["short_signature"] == expected.signature.short
        assert each["reading"]
    assert result["cut"] == [False]


def test_triples_several_references_and_settings(client: Make) -> None:
    pairs = [{"hypothesis": "a", "reference": ["a", "b"], "source": "c", "source_lang": "de"}]
    response = score(
        client(), pairs=pairs, measures=["prism-src", "direct"], settings={"references": "mean"}
    ).json()
    assert "references:mean" in response["measures"]["direct"]["signature"]
    assert "against:source" in response["measures"]["prism-src"]["signature"]
    assert response["measures"]["direct"]["reading"] == "higher is better"  # not the usual settings


def test_the_source_is_compared_with_only_on_request(client: Make) -> None:
    request: dict[str, Any] = {
        "pairs": [{"hypothesis": "a b", "source": "a c"}],
        "measures": ["chrf"],
    }
    refused = score(client(), **request)
    assert refused.status_code == 400
    assert "against: source" in refused.text
    answer = score(client(), **request, settings={"against": "source"})
    assert "against:source" in answer.json()["measures"]["chrf"]["signature"]


@pytest.mark.parametrize(
    ("request_", "status", "message"),
    [
        ({"measures": ["crossing"]}, 400, "did you mean 'cross'"),
        ({"measures": ["cross", "cross"]}, 400, "twice"),
        ({"measures": ["direct"], "lang": None}, 400, "language"),
        ({"measures": ["direct"], "lang": "xx"}, 400, "'xx'"),
        ({"measures": ["chrf"], "settings": {"beam_size": 2}}, 400, "no setting beam_size"),
        ({"measures": ["prism-src"]}, 400, "row 1: there is no source"),
        ({"pairs": [PAIR, {"hypothesis": "a"}]}, 400, "row 2"),
        ({"pairs": [{"hypothesis": "a"}]}, 400, "no reference"),
        ({"pairs": []}, 422, "pairs"),
        ({"pairs": [{"hypothesis": 3, "reference": "a"}]}, 422, "hypothesis"),
        ({"model": "/etc"}, 422, "model"),
        ({"settings": {"baseline": "/etc/passwd"}}, 422, "baseline"),
        ({"settings": {"tokenize": "flores200"}}, 422, "tokenize"),
        ({"settings": {"beam_size": 1000}}, 422, "beam_size"),
        ({"pairs": [PAIR] * 4}, 413, "at most 3"),
        ({"pairs": [{"hypothesis": "x" * 51, "reference": ""}]}, 413, "at most 50"),
        ({"pairs": [{"hypothesis": "x" * 50, "reference": "x" * 50}] * 3}, 413, "at most 250"),
        ({"pairs": [{"hypothesis": "a", "reference": ["a"] * 5}]}, 413, "references"),
        ({"pairs": [{"hypothesis": "a " * 9, "reference": ""}], "measures": ["ter"]}, 413, "ter"),
        ({"measures": [f"chrf+{n}" for n in "abcdefgh"]}, 413, "measures"),
    ],
)
def test_what_is_refused(client: Make, request_: Any, status: int, message: str) -> None:
    limits = Limits(
        pairs=3, text_characters=50, characters=250, references=4, ter_words=8, measures=6
    )
    response = score(client(limits=limits), **request_)
    assert response.status_code == status, response.text
    assert message in response.json()["detail"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[" * 100_000, b'{"pairs": NaN}', b'"\xff"', b'{"\\ud800": 1}']
)
def test_broken_bodies_are_refused(client: Make, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    response = client().post("/api/score", content=body, headers=headers)
    assert response.status_code in (400, 422)
    assert isinstance(response.json()["detail"], str)


def test_half_a_character_is_refused(client: Make) -> None:
    body = '{"pairs": [{"hypothesis": "\\ud800", "reference": "a"}]}'
    response = client().post(
        "/api/score", content=body.encode(), headers={"content-type": "application/json"}
    )
    assert response.status_code in (400, 422)


def test_a_large_body_is_refused_whether_its_length_is_said_or_not(client: Make) -> None:
    limited = client(limits=Limits(body_bytes=1000))
    headers = {"content-type": "application/json"}
    declared = limited.post("/api/score", content=b" " * 1001, headers=headers)
    undeclared = limited.post("/api/score", content=iter([b" " * 600] * 2), headers=headers)
    assert (declared.status_code, undeclared.status_code) == (413, 413)


def test_explain_gives_both_directions_and_the_matrices(client: Make) -> None:
    scores = {("a b", "a c"): (-1.0, -3.0), ("a c", "a b"): (-2.0,)}
    body = {**PAIR, "lang": "en", "reference_lang": "de"}
    made = client(FakeModel(scores, {"a b": "x", "a c": "y"}))
    response = made.post("/api/explain", json=body).json()
    first, second = response["tokens"]["directions"]
    assert [token["log_prob"] for token in first["tokens"]] == [-1.0, -3.0]
    assert (first["H"], first["G"], second["H"]) == (-2.0, -4.0, -2.0)
    assert (first["target_lang"], first["source_lang"]) == ("en", "de")
    assert response["tokens"]["prism_ref"] == -2.0
    assert response["translations"] == [
        {"measure": name, "lang": "en", "hypothesis": "x", "reference": "y"}
        for name in ("cross", "pivot")
    ]
    assert response["alignment"]["hypothesis"] == ["<s>", "a", "b", "</s>"]
    assert response["alignment"]["cosines"][2] == pytest.approx([0, 0, 0.8, 0])
    transport = response["transport"]
    assert transport["plan"] == [[0.5, 0.0], [0.0, 0.5]]  # a to a, c to b
    assert transport["work"] == pytest.approx(0.5 * (0.6**2 + 0.2**2) ** 0.5, abs=1e-6)


def test_parts_of_an_explanation(client: Make) -> None:
    made = client()
    response = made.post("/api/explain", json={**PAIR, "parts": ["alignment"]})
    assert response.status_code == 200
    assert response.json()["tokens"] is None
    without = made.post("/api/explain", json=PAIR)
    assert without.status_code == 400
    assert "language" in without.json()["detail"]
    long = made.post("/api/explain", json={**PAIR, "hypothesis": "x" * 1001, "lang": "en"})
    assert long.status_code == 413


def test_the_explanation_of_the_page_escapes_texts(client: Make) -> None:
    body = {"hypothesis": "<script>x</script> a", "reference": '"><b>', "lang": "en"}
    response = client().post("/api/explain.html", json=body)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "<script" not in response.text
    assert "<b>" not in response.text.replace("<b>x</b>", "")
    assert " style=" not in response.text  # the policy would not allow it


def test_translate(client: Make) -> None:
    made = client(FakeModel(translations={"Hallo": "Hello"}))
    response = made.post("/api/translate", json={"texts": ["Hallo"], "target_lang": "en"}).json()
    assert response["translations"] == [{"text": "Hello", "cut": False}]
    assert response["model"] == "fake"
    long = made.post("/api/translate", json={"texts": ["x"] * 2000, "target_lang": "en"})
    assert long.status_code == 413


def test_models_measures_and_health(client: Make) -> None:
    made = client()
    models = made.get("/api/models").json()["models"]
    assert [model["role"] for model in models] == ["translation", "tokens", "sentences"]
    assert models[0]["target_languages"] == ["de", "en", "fr"]
    available = made.get("/api/measures").json()
    names = [measure["name"] for measure in available["measures"]]
    assert {"cross", "bertscore", "chrf", "sentsim"} <= set(names)
    assert available["limits"]["pairs"] == Limits().pairs
    assert made.get("/healthz").json() == {"status": "ok", "waiting": 0}


def test_every_listed_measure_can_be_requested(client: Make) -> None:
    made = client()
    names = [measure["name"] for measure in made.get("/api/measures").json()["measures"]]
    pair = {**PAIR, "source": "c"}
    assert score(made, pairs=[pair], measures=names[:7]).status_code == 200
    assert score(made, pairs=[pair], measures=names[7:]).status_code == 200


def test_the_page_and_its_policy(client: Make) -> None:
    made = client()
    page = made.get("/")
    assert page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    for name in ("app.js", "page.css", "icon.svg"):
        assert made.get(f"/static/{name}").headers["cache-control"] == "no-store"
        [address] = re.findall(rf'"(/static/{name}\?v=\w+)"', page.text)
        kept = made.get(address)
        assert "immutable" in kept.headers["cache-control"]
        assert kept.headers.get("content-encoding") == (None if name == "icon.svg" else "gzip")
    assert made.get("/openapi.json").json()["info"]["title"] == "Tertium"
    assert 'This page needs JavaScript. The <a href="/docs">' in page.text
    for address in ("/", "/docs"):
        text = made.get(address).text.replace("http://localhost/", "")
        assert "://" not in text  # nothing from elsewhere
        head = made.head(address)
        assert (head.status_code, head.content) == (200, b"")


def test_no_other_origin_is_let_in(client: Make) -> None:
    made = client()
    preflight = made.options(
        "/api/score",
        headers={"origin": "http://evil.example", "access-control-request-method": "POST"},
    )
    assert "access-control-allow-origin" not in preflight.headers
    simple = made.post(
        "/api/score", content=json.dumps({"pairs": [PAIR]}), headers={"content-type": "text/plain"}
    )
    assert simple.status_code == 415
    assert "Content-Type must be application/json, not text/plain" in simple.text
    for host in ("evil.example", "localhost.evil.example", "localhost:80@evil.example", "[::1]x"):
        assert made.get("/api/models", headers={"host": host}).status_code == 400
    assert made.get("/api/models", headers={"host": "LOCALHOST:8310"}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/errors.py",
        "/static//etc/passwd",
        "/static/..\\app.py",
        "/static/app.py",
        "/static/",
    ],
)
def test_no_path_leads_out(running: Callable[..., Running], path: str) -> None:
    server = running(create_app(fake_models()))
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        response = b"".join(iter(lambda: raw.recv(65536), b""))
    assert response.split()[1] == b"404"
    assert b"import" not in response


def test_a_token_is_required(client: Make) -> None:
    made = client(token=TOKEN, hosts=())
    assert made.get("/").status_code == 200
    assert made.get("/healthz").status_code == 200
    refused = made.get("/api/models")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    for wrong in ("Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x"):
        assert score(made).status_code == 401
        assert made.get("/api/models", headers={"authorization": wrong}).status_code == 401
    right = {"authorization": f"Bearer {TOKEN}"}
    assert made.get("/api/models", headers=right).status_code == 200


def test_ten_clients_cost_few_calls(client: Make) -> None:
    model = GatedModel()
    made = client(model, limits=Limits(window=2.0))

    def one(number: int) -> Any:
        pair = {"hypothesis": f"a {number}", "reference": "b"}
        return score(made, pairs=[pair], measures=["prism-ref"])

    with ThreadPoolExecutor(10) as pool:
        responses = [pool.submit(one, number) for number in range(10)]
        wait_until(lambda: made.get("/healthz").json()["waiting"] == 10)
        model.gate.set()  # until now, whoever was first has kept the model from the others
        assert [response.result().status_code for response in responses] == [200] * 10
    assert len(model.asked) == 20
    assert model.calls <= 4


def test_a_full_queue_says_when_to_come_back(client: Make) -> None:
    model = GatedModel()
    made = client(model, limits=Limits(queue=2))
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(score, made, measures=["prism-ref"]) for _ in range(2)]
        wait_until(lambda: made.get("/healthz").json()["waiting"] == 2)
        refused = score(made, measures=["chrf"])
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) > 0
        model.gate.set()
        assert [done.result().status_code for done in waiting] == [200, 200]
    assert score(made, measures=["chrf"]).status_code == 200


def test_time_is_limited_and_the_place_is_kept_until_the_work_ends(client: Make) -> None:
    model = GatedModel()
    made = client(model, limits=Limits(seconds=2.0, queue=1))
    late = score(made, measures=["prism-ref"])
    assert late.status_code == 504
    model.gate.set()
    wait_until(lambda: made.get("/healthz").json()["waiting"] == 0)
    assert score(made, measures=["prism-ref"]).status_code == 200


def test_a_client_that_is_killed_harms_nobody(running: Callable[..., Running]) -> None:
    model = GatedModel()
    server = running(create_app(fake_models(model), limits=Limits(queue=3)))
    body = json.dumps({"pairs": [PAIR], "measures": ["prism-ref"], "lang": "en"})
    head = (
        "POST /api/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with httpx.Client(base_url=server.address) as other, ThreadPoolExecutor(1) as pool:
        half = socket.create_connection(("127.0.0.1", server.port))
        half.sendall((head + body[:10]).encode())
        half.close()  # in the middle of its request
        killed = socket.create_connection(("127.0.0.1", server.port))
        killed.sendall((head + body).encode())
        wait_until(lambda: model.calls == 1)
        patient = pool.submit(score, other, measures=["prism-ref"])
        wait_until(lambda: waiting(server) == 2)
        killed.close()  # while it is being answered
        time.sleep(0.1)
        model.gate.set()
        assert patient.result().status_code == 200
        wait_until(lambda: waiting(server) == 0)
        assert score(other, measures=["prism-ref"]).status_code == 200


def test_a_slow_sender_is_cut_off(running: Callable[..., Running]) -> None:
    server = running(create_app(fake_models(), limits=Limits(seconds=0.3)))
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(
            b"POST /api/score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        raw.settimeout(10)
        assert raw.recv(65536).split()[1] == b"408"


def test_logs_hold_no_text(client: Make, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(FakeModel):
        def candidates(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("secret words")

    caplog.set_level(logging.DEBUG)
    pair = {"hypothesis": "secret words", "reference": "secret words"}
    response = score(client(Broken()), pairs=[pair], measures=["cross"])
    assert response.status_code == 500
    assert "secret" not in response.text
    assert score(client(), pairs=[pair], measures=["chrf"]).status_code == 200
    assert "RuntimeError in" in caplog.text
    assert "POST /api/score 200" in caplog.text
    assert "secret" not in caplog.text
    assert score(client(log_texts=True), pairs=[pair], measures=["chrf"]).status_code == 200
    assert "secret words" in caplog.text


def test_the_numbers_are_those_of_the_command_line(tertium: Run) -> None:
    from tertium import load_encoder, load_model

    measures = ["cross", "direct", "bertscore", "sss", "chrf"]
    texts = ("The cat sat.", "Die Katze saß.")
    options = [word for name in measures for word in ("-m", name)]
    done = tertium("score", *texts, *options, "--lang", "en", "--ref-lang", "de", "--json", "-q")
    expected = json.loads(done.stdout)
    models = load_model(cache=False), load_encoder(), load_encoder("tertium-mini-encoder")
    with TestClient(create_app(Loaded(*models)), base_url="http://localhost") as client:
        pair = {"hypothesis": texts[0], "reference": texts[1]}
        result = score(client, pairs=[pair], measures=measures, reference_lang="de").json()
    for name in measures:
        assert result["measures"][name]["system"] == expected["measures"][name]["system"]
        assert result["measures"][name]["signature"] == expected["measures"][name]["signature"]


def test_a_sentence_encoder_is_not_a_token_encoder() -> None:
    fake = FakeEncoder({})
    names = ("name", "fingerprint", "settings", "sentence_vectors")
    sentences: Any = SimpleNamespace(**{name: getattr(fake, name) for name in names})
    with pytest.raises(SettingError, match="use it as sentence_encoder="):
        Loaded(FakeModel(), sentences, sentences)


def waiting(server: Running) -> int:
    count: int = httpx.get(f"{server.address}/healthz").json()["waiting"]
    return count


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_marks_are_part_of_the_response(client: Make) -> None:
    pairs = [
        {"hypothesis": "", "reference": "a c"},
        {"hypothesis": "Где находится вокзал?", "reference": "a c"},
        {"hypothesis": "a b", "reference": "a c"},
    ]
    result = score(client(), pairs=pairs, lang=None, measures=["cross", "chrf"]).json()
    assert result["marks"] == [["empty"], ["unknown"], []]
    assert result["measures"]["cross"]["segments"][0] == 0


def test_long_texts_are_split_as_in_the_library(client: Make) -> None:
    model = LimitedFake({("A b!", "A b!"): (-1.0,)})
    long, shorter = "A b! C d! E f! G h!", "A b! C d! G h!"
    pairs = [{"hypothesis": long, "reference": shorter}]
    result = score(client(model), pairs=pairs, measures=["prism-ref", "direct"]).json()
    assert result["marks"] == [["split"]]
    for name, each in result["measures"].items():
        expected = tertium.load(name, model=model).score(long, shorter, lang="en")
        assert each["segments"] == expected.segments
        assert each["signature"] == expected.signature.long
    cut = score(client(model), pairs=pairs, measures=["direct"], settings={"long": "cut"}).json()
    assert cut["marks"] == [[]]


def lines_of(response: Any) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    return [json.loads(line) for line in response.text.splitlines()]


def as_file(text: str | bytes, name: str = "rows.tsv") -> dict[str, str]:
    if isinstance(text, str):
        return {"name": name, "text": text}
    return {"name": name, "base64": b64encode(text).decode()}


def score_file(client: Any, text: str | bytes, name: str = "rows.tsv", **request: Any) -> Any:
    body = {"file": as_file(text, name), "measures": ["chrf"], **request}
    return client.post("/api/score/file", json=body)


def test_a_file_is_scored_as_a_stream(client: Make) -> None:
    text = "id\thyp\tref\n1\ta b\ta c\n2\ta b\ta b\n"
    head, *rows, last = lines_of(score_file(client(), text, measures=["chrf", "cross"], lang="en"))
    assert head == {"rows": 2, "columns": ["id", "hyp", "ref"], "measures": ["chrf", "cross"]}
    expected = tertium.score(["a b", "a b"], ["a c", "a b"], measure="chrf")
    assert [row["scores"]["chrf"] for row in rows] == expected
    assert [row["record"]["id"] for row in rows] == ["1", "2"]
    assert [(row["row"], row["error"], row["marks"]) for row in rows] == [
        (1, None, []),
        (2, None, []),
    ]
    system = tertium.load("chrf").score(["a b", "a b"], ["a c", "a b"], lang="en")
    assert last["summary"]["measures"]["chrf"]["system"] == system.system
    assert last["summary"]["measures"]["chrf"]["signature"] == system.signature.long


def test_rows_of_a_stream_come_before_the_end(running: Callable[..., Running]) -> None:
    model = GatedModel()
    server = running(create_app(fake_models(model)))
    text = "hyp\tref\n" + "".join(f"a {n}\tb {n}\n" for n in range(40))
    body = {"file": as_file(text), "measures": ["prism-ref"], "lang": "en"}
    with httpx.stream("POST", f"{server.address}/api/score/file", json=body, timeout=60) as answer:
        lines = answer.iter_lines()
        assert json.loads(next(lines))["rows"] == 40  # while the model still waits
        model.gate.set()
        assert [json.loads(line).get("row") for line in lines] == [*range(1, 41), None]


def test_rows_that_cannot_be_scored_are_marked(client: Make) -> None:
    text = "hyp\tref\tlang\na\tb\ten\na\tb\txx\n" + "x" * 51 + "\tb\ten\n"
    made = client(limits=Limits(text_characters=50))
    _, *rows, last = lines_of(score_file(made, text, measures=["direct"]))
    assert [row["error"] is None for row in rows] == [True, False, False]
    assert "'xx'" in rows[1]["error"]
    assert "51 characters" in rows[2]["error"]
    assert "--" not in rows[1]["error"]
    assert last["summary"]["not_scored"] == 2
    *_, error = lines_of(score_file(made, "hyp\tref\na\tb\n", measures=["direct"]))
    assert "no row can be scored" in error["error"]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.tsv", "HYP\tRef\na\tb\n", ("tsv", True, ["HYP", "Ref"])),
        ("a.csv", "hyp;ref\na;b\n", ("csv", True, ["hyp", "ref"])),
        ("a", "a\tb\nc\td\n", ("tsv", False, ["1", "2"])),
        ("a.jsonl", '{"hyp": "a", "ref": ["b", "c"]}\n', ("jsonl", True, ["hyp", "ref"])),
        ("../../a.tsv", "sentence1\tsentence2\na\tb\n", ("tsv", True, ["sentence1", "sentence2"])),
    ],
)
def test_how_files_are_read(
    client: Make, name: str, content: str, expected: tuple[str, bool, list[str]]
) -> None:
    found = client().post("/api/read", json={"file": as_file(content, name)}).json()
    assert (found["format"], found["header"], found["columns"]) == expected
    assert found["preview"][0]["hypothesis"] == "a"
    assert found["preview"][0]["references"][0] == "b"
    assert "/" not in found["name"]


@pytest.mark.parametrize(
    ("file", "status", "message"),
    [
        (as_file("hyp\tref\nschön\tb\n".encode("latin-1")), 400, "line 2: byte 4 (0xF6)"),
        (as_file("hyp\tref\na\n"), 400, "rows.tsv, row 1 (line 2): 1 field"),
        (as_file("a\nb\n"), 400, "two texts per row are needed"),
        (
            as_file("x\ty\thyp\n1\t2\t3\n"),
            400,
            'use "Column of the second text" or "Column of the source"',
        ),
        (as_file(gzip.compress(b"hyp\tref\n")), 400, "decompress it first"),
        (as_file(b"PAR1", "a.parquet"), 400, "Parquet"),
        (as_file("hyp\tref\n"), 400, "empty"),
        ({"name": "a.tsv", "base64": "?"}, 400, "base64"),
        ({"name": "a.tsv"}, 422, "either text or base64"),
        (as_file("hyp\tref\n" + "a\tb\n" * 6), 413, "6 rows"),
    ],
)
def test_files_that_are_refused(
    client: Make, file: dict[str, str], status: int, message: str
) -> None:
    response = client(limits=Limits(rows=5)).post("/api/read", json={"file": file})
    assert response.status_code == status, response.text
    assert message in response.json()["detail"]
    assert "--" not in response.text
    assert "/tmp" not in response.text


def test_languages_are_identified_among_those_of_the_model(client: Make) -> None:
    texts = ["Where is the station?", "123", "Dove si trova la stazione dei treni di Roma?"]
    english, nothing, italian = (
        client().post("/api/identify", json={"texts": texts}).json()["guesses"]
    )
    assert (english["lang"], english["supported"]) == ("en", True)
    assert nothing is None
    assert (italian["lang"], italian["supported"]) == ("it", False)


def test_systems_are_compared_as_by_the_library(client: Make) -> None:
    systems = {"one": ["a b", "c d", "e"], "two": ["a", "c", "e f"]}
    references = ["a b", "c d", "e f"]
    expected = tertium.compare(systems, references, measures="chrf", lang="en").document()
    files = [as_file("\n".join(texts), f"{name}.txt") for name, texts in systems.items()]
    body = {"systems": files, "references": [as_file("\n".join(references), "ref.txt")]}
    made = client()
    found = made.post("/api/compare", json={**body, "measures": ["chrf"], "lang": "en"}).json()
    assert found == json.loads(json.dumps(expected))
    rows = zip(*systems.values(), references, strict=True)
    table = "one\ttwo\tref\n" + "".join("\t".join(row) + "\n" for row in rows)
    again = made.post(
        "/api/compare", json={"table": as_file(table), "measures": ["chrf"], "lang": "en"}
    )
    assert again.json() == found
    *progress, page = lines_of(
        made.post("/api/compare/stream", json={**body, "measures": ["chrf"], "lang": "en"})
    )
    assert [line["scored"] for line in progress] == [0, 1, 3]  # of two systems, one after the other
    assert page["page"].startswith("<!doctype html>")
    assert ' style="' not in page["page"]  # the policy of the page would not allow it


@pytest.mark.parametrize(
    ("request_", "status", "message"),
    [
        ({"systems": [as_file("a", "a.txt")]}, 422, "references or a source"),
        ({}, 422, "either a table"),
        ({"table": as_file("one\tref\na\tb\nc\td\n")}, 400, "at least two"),
        (
            {
                "systems": [as_file("a\nb", "a.txt"), as_file("a", "b.txt")],
                "references": [as_file("a\nb", "r.txt")],
            },
            400,
            "differ in their number of lines: b.txt has 1",
        ),
    ],
)
def test_comparisons_that_are_refused(
    client: Make, request_: dict[str, Any], status: int, message: str
) -> None:
    response = client().post("/api/compare", json={"measures": ["chrf"], **request_})
    assert response.status_code == status, response.text
    assert message in response.json()["detail"]


def test_spans(client: Make) -> None:
    body = {"hypothesis": "a b", "reference": "a 12", "methods": ["differences", "flags"]}
    found = client().post("/api/spans", json=body).json()
    spans = [(each["side"], each["start"], each["end"], each["kind"]) for each in found["spans"]]
    assert spans == [("a", 2, 3, "difference"), ("b", 2, 4, "difference")]  # of zero vectors
    assert found["spans"][0]["reason"] == "“b” has no similar word in the other text"
    assert found["verdict"] is None
    judged = client().post("/api/spans", json={**body, "matches": True}).json()
    assert judged["verdict"]["level"] == "unsure"
    assert judged["matches"] == [
        {"a": [0, 1], "b": [0, 1], "differs": False},
        {"a": [2, 3], "b": [2, 4], "differs": True},
    ]
    without = client().post("/api/spans", json={**body, "methods": ["coverage"]})
    assert without.status_code == 400
    assert "--" not in without.text


def test_settings_in_names_are_checked(client: Make) -> None:
    made = client()
    found = score(made, measures=["chrf++", "chrf:word_order=1"]).json()["measures"]
    assert "nw:2" in found["chrf++"]["signature"]
    assert "nw:1" in found["chrf:word_order=1"]["signature"]
    for name in ("bertscore:baseline=/etc/passwd", "sss:sentence_encoder=LaBSE", "sss:layer=2"):
        refused = score(made, measures=[name])
        assert refused.status_code == 400
        assert "cannot be used on a server" in refused.text
    assert score(made, measures=["bleu:tokenize=flores200"]).status_code == 400
    assert score(made, measures=["cross@prism"]).status_code == 400


def test_the_log_cannot_be_forged(client: Make, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tertium.web")
    client().get("/x%0a2026-01-01%20GET%20/admin%20200%1b[31m")
    lines = [each.getMessage() for each in caplog.records if each.name == "tertium.web"]
    [line] = [each for each in lines if "/x" in each]
    assert line.startswith("GET /x\\n2026-01-01")
    assert "\x1b" not in line
    pair = {"hypothesis": "\x9b31m", "reference": "a"}
    score(client(log_texts=True), pairs=[pair], measures=["chrf"])
    logged = [each.getMessage() for each in caplog.records if each.name == "tertium.web"]
    assert not any("\x9b" in each for each in logged)


def test_a_client_that_left_is_no_timeout(
    running: Callable[..., Running], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tertium.web")
    model = GatedModel()
    server = running(create_app(fake_models(model)))
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(
            f"{server.address}/api/score",
            json={"pairs": [PAIR], "measures": ["prism-ref"], "lang": "en"},
            timeout=0.5,
        )
    wait_until(lambda: any("/api/score" in each.getMessage() for each in caplog.records))
    model.gate.set()
    [line] = [each.getMessage() for each in caplog.records if "/api/score" in each.getMessage()]
    assert line.startswith("POST /api/score 499")


def test_the_warm_up_has_no_time_limit() -> None:
    app = create_app(fake_models(), limits=Limits(seconds=0.000001))
    app.state.service.warm_up(["cross", "chrf"])
    assert set(app.state.service.scale["chrf"]) == {
        "identical",
        "paraphrase",
        "near miss",
        "unrelated",
    }
    assert app.state.service.scale["chrf"]["identical"] == 100
    app.state.service.close()


def test_the_description_names_the_token(client: Make) -> None:
    described = client(token=TOKEN, hosts=()).get("/openapi.json").json()
    assert described["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    assert described["paths"]["/api/score"]["post"]["security"] == [{"HTTPBearer": []}]
    assert "security" not in described["paths"]["/healthz"]["get"]
    assert "securitySchemes" not in client().get("/openapi.json").json()["components"]


def test_the_examples_of_the_documentation_work(client: Make) -> None:
    made = client()
    page = made.get("/docs").text
    for path, request in documentation.REQUESTS.items():
        assert f"{made.base_url}{path}" in page
        response = made.post(path, json=request)
        assert response.status_code == 200, response.text
        compile(documentation.python("http://localhost", path), path, "exec")


def test_every_operation_is_documented_with_examples(client: Make) -> None:
    paths = client().get("/openapi.json").json()["paths"]
    posts = {path for path, methods in paths.items() if "post" in methods}
    assert posts == set(documentation.REQUESTS)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.tsv", " \n", "x.tsv is empty"),
        ("x.jsonl", '{"hyp": "a", "ref": "b"}\n{"hyp": "a", "q": NaN}\n', "row 2: not JSON: NaN"),
        ("x.jsonl", '{"hyp": "a", "ref": "b", "q": -Infinity}\n', "-Infinity is not a number"),
        ("x.jsonl", '{"hyp": "a", "ref": "b", "q": 1e999}\n', "1e999 is not a number"),
    ],
)
def test_files_with_nothing_or_no_numbers_are_refused(
    client: Make, name: str, text: str, message: str
) -> None:
    response = client().post("/api/read", json={"file": {"name": name, "text": text}})
    assert response.status_code == 400
    assert message in response.json()["detail"]


def test_streams_are_not_held_back_by_compression(client: Make) -> None:
    made = client()
    rows = "hyp\tref\n" + "a b\ta c\n" * 40
    body = {"file": {"name": "x.tsv", "text": rows}, "measures": ["chrf"]}
    stream = made.post("/api/score/file", json=body)
    assert stream.status_code == 200
    assert "content-encoding" not in stream.headers
    assert made.get("/api/measures").headers["content-encoding"] == "gzip"


def test_a_verdict_comes_with_the_spans(client: Make) -> None:
    body = {"hypothesis": "Born 1985.", "reference": "Born 1958.", "lang": "en"}
    methods = ["opposites", "flags"]
    found = client().post("/api/spans", json={**body, "methods": methods, "matches": True}).json()
    assert found["verdict"] == {  # nothing was learned for this model
        "level": "different",
        "sentence": "Something differs: the number differs (1985 / 1958).",
        "score": None,
    }
    assert {"a": [5, 9], "b": [5, 9], "differs": True} in found["matches"]

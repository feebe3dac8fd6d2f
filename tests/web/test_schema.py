"""Requests that the schema allows, and others: no request stops the server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

schemathesis = pytest.importorskip("schemathesis")

from hypothesis import HealthCheck, settings  # noqa: E402

from tertium.web.app import create_app  # noqa: E402
from tertium.web.limits import Limits  # noqa: E402
from tertium.web.lists import available_measures  # noqa: E402

from .conftest import Running, fake_models  # noqa: E402

APP = create_app(fake_models(), limits=Limits(window=0.0))
SCHEMA = schemathesis.openapi.from_dict(APP.openapi())


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    APP.state.service.warm_up(available_measures())
    running = Running(APP)
    yield running
    running.close()


@SCHEMA.parametrize()  # type: ignore[untyped-decorator]  # it is imported at run time
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_responses_are_as_described(case: Any, server: Running) -> None:
    response = case.call(base_url=server.address)
    checks = schemathesis.checks
    case.validate_response(
        response,
        checks=[
            checks.not_a_server_error,
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
        ],
    )

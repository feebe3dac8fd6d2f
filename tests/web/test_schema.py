"""Whatever the schema allows, and much that it does not: no request brings the server down."""

from __future__ import annotations

import pytest

schemathesis = pytest.importorskip("schemathesis")

from hypothesis import HealthCheck, settings  # noqa: E402

from tertium.web.app import create_app  # noqa: E402
from tertium.web.limits import Limits  # noqa: E402

from .conftest import fake_models  # noqa: E402

APP = create_app(fake_models(), limits=Limits(seconds=5.0, window=0.0), hosts=())
SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", APP)
FULL, LATE = 503, 504


@SCHEMA.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_answers_are_as_described(case: schemathesis.Case) -> None:
    response = case.call()
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

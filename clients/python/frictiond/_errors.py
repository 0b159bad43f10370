# SPDX-License-Identifier: MIT
"""Exceptions."""
import http
import json
from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

REPEATED = (429, 502, 503, 504)  # statuses of requests that may succeed later


class Error(Exception):
    """The service, or a proxy in front of it, refused the request.

    status      HTTP status, also in process; None if there was no answer
    title, detail   text for human readers
    errors      list of (JSON Pointer into the batch, detail)
    request_id  id of the request in the service's log, or None (in process)
    code        for programs: "unknown_set", "set_changed", ..., or None

        try:
            answer = client.evaluate(batch)
        except frictiond.Error as error:
            print(error.status, error.errors)    # 422 [('/friction/eps_v', '0 is out of range: ...')]
    """

    def __init__(self, status: int | None, title: str, detail: str, errors: Iterable[tuple[str, str]] = (),
                 request_id: str | None = None, code: str | None = None) -> None:
        super().__init__(status, title, detail, errors, request_id, code)
        self.status, self.title, self.detail = status, title, detail
        self.errors, self.request_id, self.code = list(errors), request_id, code

    def __str__(self) -> str:
        where = "; ".join(f"{pointer}: {detail}" for pointer, detail in self.errors) or self.detail
        return " ".join(str(word) for word in (self.status, self.title) if word) + f": {where}"


class Unavailable(Error):
    """No answer in time; or, after all retries, no answer or still 503 (429, 502, 504). The request may succeed later.

        except frictiond.Unavailable: keep the batch and send it again
    """


class NotConverged(RuntimeError):
    """Newton's method has not solved the equations of a time step. The message names the unbalanced component.
    No anchors were carried, so the step can be repeated, for instance with half its length.

    velocities   of the last iteration
    residual     unbalanced forces at these velocities, in their shape
    """

    def __init__(self, why: str, velocities: NDArray[Any], residual: NDArray[Any]) -> None:
        super().__init__(why)
        self.velocities, self.residual = velocities, residual


def error_of(status: int, headers: Mapping[str, str], data: bytes) -> Error:
    """The error that a response describes."""
    try:
        problem = json.loads(data)
        title, detail, code = problem["title"], problem["detail"], problem.get("code")
        errors = [(error["pointer"], error["detail"]) for error in problem.get("errors", [])]
    except (ValueError, KeyError, TypeError):  # a proxy's page
        title = http.HTTPStatus(status).phrase if status in set(http.HTTPStatus) else ""
        detail, errors, code = data[:200].decode(errors="replace"), [], None
    kind = Unavailable if status in REPEATED else Error
    return kind(status, title, detail, errors, headers.get("X-Request-Id"), code)

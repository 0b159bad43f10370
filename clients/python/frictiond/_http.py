# SPDX-License-Identifier: MIT
"""Transport over HTTP: TCP, TLS and Unix-domain sockets."""
import http.client
import os
import random
import socket
import ssl
import threading
import time
import urllib.parse

import numpy as np

from ._errors import REPEATED, Error, Unavailable, error_of

FIRST_WAIT, LONGEST_WAIT = 0.05, 30.0  # seconds between tries
LONG = 65536  # bytes; above this, calling send for each array takes less time than joining them


class Http:
    """Sends requests to the service at a URL. Threads have connections of their own."""

    def __init__(self, url, token, retries, timeout, ca):
        self.url, self.retries, self.timeout = url.rstrip("/"), retries, timeout
        self._connect, self._prefix = _service(url, timeout, ca)
        self._authorization = {"Authorization": "Bearer " + token} if token else {}
        self._local = threading.local()

    def __repr__(self):
        return f"frictiond.Client({self.url!r})"

    def send(self, method, target, headers, pieces):
        """(status, headers, pieces of the body) of a response. Raises an Error if all tries fail. pieces: bytes and
        C-contiguous arrays."""
        headers = {**headers, **self._authorization}
        body = self._body(headers, pieces)
        for attempt in range(self.retries + 1):
            try:
                response, data = self._exchange(method, self._prefix + target, body, headers)
            except ssl.SSLCertVerificationError as error:
                raise Error(None, "Certificate not trusted", f"{self.url}: {error.verify_message}") from error
            except TimeoutError as error:
                raise Unavailable(None, "No answer", f"{self.url}: nothing for {self.timeout} s") from error
            except (OSError, http.client.HTTPException) as error:
                hint = "; is it running?" if isinstance(error, (ConnectionRefusedError, FileNotFoundError)) else ""
                failure = Unavailable(None, "No connection", f"{self.url}: {error or type(error).__name__}{hint}")
                wait = 0
            else:
                if response.status not in REPEATED:
                    return response.status, response.headers, [memoryview(data)]
                failure, wait = error_of(response.status, response.headers, data), _retry_after(response)
            if attempt < self.retries:
                time.sleep(min(max(wait, FIRST_WAIT * 2**attempt) * random.uniform(1, 1.25), LONGEST_WAIT))
        raise failure

    def close(self):
        """Closes this thread's connection."""
        connection = self._local.__dict__.pop("connection", None)
        if connection:
            connection.close()

    def _body(self, headers, pieces):
        if not pieces:
            return None
        if len(pieces) == 1:
            return pieces[0]
        pieces = [piece if isinstance(piece, bytes) else memoryview(piece.reshape(-1).view(np.uint8))
                  for piece in pieces]
        n_bytes = sum(map(len, pieces))
        if n_bytes < LONG:
            return b"".join(pieces)
        headers["Content-Length"] = str(n_bytes)
        return pieces

    def _exchange(self, method, path, body, headers):
        """A response and its body. A kept connection that the service has closed meanwhile is replaced at once."""
        connection = self._connection()
        kept = connection.sock is not None
        try:
            try:
                connection.request(method, path, body, headers)
            except (BrokenPipeError, ConnectionResetError):
                if connection.sock is None:
                    raise
                # An answer (413, 503) may have come before everything was sent.
            response = connection.getresponse()
            return response, response.read()
        except BaseException as error:  # KeyboardInterrupt too: the rest of this answer must not be read as the next one
            self.close()
            if not kept or not isinstance(error, ConnectionError):
                raise
        return self._exchange(method, path, body, headers)

    def _connection(self):
        local = self._local
        if getattr(local, "process", None) != os.getpid():  # after a fork, the connection belongs to the parent
            local.process, local.connection = os.getpid(), None
        if getattr(local, "connection", None) is None:
            local.connection = self._connect()
        return local.connection


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        try:
            self.sock.settimeout(self.timeout)
            self.sock.connect(self._path)
        except BaseException:
            self.close()
            raise


def _service(url, timeout, ca):
    """Returns a function that makes a connection to the service, and the path at which its routes begin."""
    scheme, _, path = url.partition("://")
    if scheme == "http+unix" and path.startswith("/"):
        return lambda: _UnixConnection(path, timeout), ""
    if not path:
        raise ValueError(f"not a URL of a service: {url!r} has no scheme; http://{url or '127.0.0.1:8080'} has one")
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"not a URL of a service: {url!r}; one begins with http://, https:// or http+unix:///, and has no"
                         " query")
    host, port, prefix = parts.hostname, parts.port, parts.path.rstrip("/")
    if parts.scheme == "http":
        return lambda: http.client.HTTPConnection(host, port, timeout=timeout), prefix
    tls = ssl.create_default_context(cafile=ca)
    return lambda: http.client.HTTPSConnection(host, port, timeout=timeout, context=tls), prefix


def _retry_after(response):
    """The number of seconds; 0 if the header is missing or is a date."""
    text = response.headers.get("Retry-After", "").strip()
    return int(text) if text.isdecimal() and len(text) < 9 else 0

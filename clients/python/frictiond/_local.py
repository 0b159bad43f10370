# SPDX-License-Identifier: MIT
"""Transport in process: calls libfrictiond instead of sending requests over HTTP."""
import ctypes
import os
import queue
import threading
import time
import weakref

import numpy as np

from . import _native
from ._client import Client
from ._errors import Unavailable

SMALL = 4096  # bytes; below this, joining pieces takes less time than finding the addresses of arrays
# If a request and its set have at least this many bytes, it may take longer than a tenth of a second: the main thread
# then lets another thread make the call. A check takes a thousand times as long as an evaluation, and a line may have
# thousands of steps.
LONG, LONG_SLOW = 8 << 20, 8 << 10
SLOW = b'"line"'
LOOK = 0.05  # seconds; a signal that comes just before a wait does not end it
SOON = 0.0005
KEPT = 65536  # bytes; a struct that is used again keeps the last request's bytes
HEADERS = {"Content-Type": "content_type", "Accept": "accept", "If-Collision-Set-Version": "if_collision_set_version"}
SETS = "/v1/sets/"


def local(*, threads: int | None = None, memory_bytes: int | None = None, max_json_bytes: int | None = None,
          max_frame_bytes: int | None = None, max_answer_bytes: int | None = None, max_contacts: int | None = None,
          max_vertices: int | None = None, pool_bytes: int | None = None, idle_seconds: int | None = None,
          sets: int | None = None, set_bytes: int | None = None, set_idle_seconds: int | None = None,
          kernels: str | None = None, frames: bool = True) -> Client:
    """A service in this process: a Client without a server. It needs libfrictiond, which comes with the wheel. Arrays
    of requests are read where they are, and arrays of answers are views of the service's memory.

    threads         for large evaluations (default: all processors that the process may use)
    memory_bytes    limit for all requests, answers and sets together (default: 3/4 of the memory). An answer counts
                    until its last array is gone
    max_…           largest JSON text, frame, answer (bytes); most contacts and vertices of a request
    pool_bytes      how much memory is kept warm between calls, for idle_seconds
    sets            how many sets are kept, in set_bytes of memory, for set_idle_seconds after their last use
    kernels         inner loops: best, avx512, avx2, baseline, scalar
    frames          False: everything is JSON, to compare with a service over HTTP

    docs/options.md describes the server's options of the same names. Threads may share the service; they compute at the
    same time. Ctrl-C ends a long call. After a fork, the child gets a service of its own, and puts its sets again
    when it uses them.

        client = frictiond.local(threads=2)
        client.evaluate(batch)["gradient"]
    """
    given = {name: value for name, value in locals().items() if value is not None and name != "frames"}
    client = Client.__new__(Client)
    client._begin(Local(given), frames)
    return client


class Local:
    """Sends requests to a service in this process. copied_bytes counts bytes of requests that were copied."""

    def __init__(self, options):
        self._options, self.copied_bytes = options, 0
        self._library = _native.library()
        self._after_fork()
        self._open()
        _all.add(self)

    def __repr__(self):
        return f"frictiond.local({', '.join(f'{name}={value!r}' for name, value in self._options.items())})"

    def send(self, method, target, headers, pieces):
        """(status, headers, pieces of the body). pieces: bytes and C-contiguous arrays, which must not change
        meanwhile."""
        n_bytes = sum([len(piece) if type(piece) is bytes else piece.nbytes for piece in pieces])
        if n_bytes < SMALL and len(pieces) > 1:
            pieces = [b"".join(pieces)]
        name = target.partition("?")[0].split("/", 4)[3] if target.startswith(SETS) else None
        service = self._service or self._open()
        is_long = self._is_long(target, name, n_bytes, pieces)
        if n_bytes < KEPT and not is_long:
            call = self._idle.pop() if self._idle else _Call()
            answer = call.run(service, method, target, headers, pieces)
            self._idle.append(call)
        elif is_long and threading.get_ident() == threading.main_thread().ident:
            answer = _worker().run(_Call(), service, method, target, headers, pieces)
        else:
            answer = _Call().run(service, method, target, headers, pieces)
        self.copied_bytes += answer.copied_bytes
        if name and method in ("PUT", "DELETE"):
            self._note_size(name, n_bytes if method == "PUT" and answer.status < 300 else 0)
        return answer.status, answer.headers, answer.body

    def close(self):
        """Destroys the service and its sets. The next request creates another one."""
        self._service = None

    def memory(self):
        """Bytes in use: by calls, answers and sets."""
        return self._library.frictiond_memory(self._service.pointer) if self._service else 0

    def _is_long(self, target, name, n_bytes, pieces):
        n_bytes += self._sizes.get(name, 0)
        return n_bytes >= LONG or n_bytes >= LONG_SLOW and (
            "/check" in target or bool(pieces) and SLOW in pieces[0])

    def _note_size(self, name, n_bytes):
        """A call to a large set may take long, although the request is short."""
        if n_bytes < LONG_SLOW:
            self._sizes.pop(name, None)
            return
        if len(self._sizes) > 4096:
            self._sizes.clear()
        self._sizes[name] = n_bytes

    def _open(self):
        with self._lock:
            if self._service is None:
                self._service = _Service(self._library, self._options)
            return self._service

    def _after_fork(self):
        self._lock, self._service, self._idle, self._sizes = threading.Lock(), None, [], {}


class _Service:
    """Owns a struct frictiond. Calls refer to this object, so it lives until they have ended."""

    def __init__(self, library, options):
        options = dict(options)
        kernels = options.pop("kernels", None)
        for name, value in options.items():
            if type(value) is not int or not 0 < value < 2**63:
                raise ValueError(f"{name} is {value!r}: a number larger than 0 is expected (docs/options.md)")
        given = _native.Options(size=ctypes.sizeof(_native.Options), kernels=kernels and kernels.encode(), **options)
        pointer = ctypes.c_void_p()
        code = library.frictiond_create(given, pointer)
        if code == _native.E_MEMORY:
            raise MemoryError(_reason(library, code))
        if code != _native.OK:
            shown = ", ".join(f"{name}={value!r}" for name, value in {**options, "kernels": kernels}.items() if value)
            raise ValueError(f"{_reason(library, code)}: {shown} (docs/options.md has the ranges)")
        self.library, self.call, self.pointer, self._destroy = (library, library.frictiond_call, pointer,
                                                                library.frictiond_destroy)

    def __del__(self):
        if hasattr(self, "_destroy"):
            self._destroy(self.pointer)


def _reason(library, code):
    return library.frictiond_reason(code).decode()


class _Call:
    """A struct frictiond_request and all that it points to, for one call at a time. stop ends the call."""

    def __init__(self):
        self.stop, self._out = ctypes.c_bool(), ctypes.POINTER(_native.Answer)()
        self._request = _native.Request(size=ctypes.sizeof(_native.Request), stop=ctypes.addressof(self.stop))
        self._pieces = None
        self._arguments = ctypes.byref(self._request), ctypes.byref(self._out)
        self._reserve(1)

    def run(self, service, method, target, headers, pieces):
        request = self._request
        request.method, request.target, request.n_pieces = method.encode(), target.encode(), len(pieces)
        request.accept = request.content_type = request.if_collision_set_version = None
        for name, value in headers.items():
            setattr(request, HEADERS[name], value.encode())
        if len(pieces) > len(self._pieces):
            self._reserve(len(pieces))
        for given, piece in zip(self._pieces, pieces):
            if type(piece) is bytes:
                given.bytes, given.n = piece, len(piece)
            else:
                given.bytes, given.n = piece.ctypes.data, piece.nbytes
        code = service.call(service.pointer, *self._arguments)
        if code != _native.OK:
            raise Unavailable(None, "No answer", _reason(service.library, code))
        return _Answer(service.library, self._out.contents)

    def _reserve(self, n):
        self._pieces = (_native.Given * n)()
        self._request.pieces = ctypes.addressof(self._pieces)


class _Answer:
    """A copy of the small parts of a struct frictiond_answer; the body stays where it is."""
    __slots__ = ("status", "headers", "body", "copied_bytes")

    def __init__(self, library, answer):
        owner = _Owner(library.frictiond_answer_free, ctypes.addressof(answer))
        self.status, self.copied_bytes = answer.status, answer.copied_bytes
        self.headers = {"Content-Type": (answer.content_type or b"").decode()}
        for header in answer.headers[:answer.n_headers]:
            self.headers[header.name.decode()] = header.value.decode()
        self.body = [_view(owner, piece.bytes, piece.n) for piece in answer.pieces[:answer.n_pieces]]


class _Owner:
    """Frees an answer when the last view of its memory is gone. In a fork, the library does nothing."""
    __slots__ = ("_free", "_address")

    def __init__(self, free, address):
        self._free, self._address = free, address

    def __del__(self):
        self._free(self._address)


class _Memory:
    """Bytes of an answer as NumPy sees them: the base of its arrays."""
    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, owner, address, n):
        self._owner = owner
        self.__array_interface__ = {"version": 3, "shape": (n,), "typestr": "|u1", "data": (address, True)}


def _view(owner, address, n):
    return memoryview(np.asarray(_Memory(owner, address, n))) if n else memoryview(b"")


# ---- Ctrl-C ----

class _Worker:
    """A thread that makes long calls for the main thread. Python delivers signals only to the main thread, between two
    steps of the interpreter or while it waits for a lock, so it cannot interrupt a call made by the main thread."""

    def __init__(self):
        self._jobs = queue.SimpleQueue()
        threading.Thread(target=self._work, name="frictiond", daemon=True).start()

    def run(self, call, *arguments):
        done, result = threading.Lock(), []
        done.acquire()
        self._jobs.put((call, arguments, result, done))
        try:
            while not done.acquire(timeout=LOOK):
                pass
        except BaseException:
            call.stop.value = True
            while not result:  # the caller may change its arrays afterwards
                time.sleep(SOON)
            raise
        if isinstance(result[0], BaseException):
            raise result[0]
        return result[0]

    def _work(self):
        while True:
            call, arguments, result, done = self._jobs.get()
            try:
                result.append(call.run(*arguments))
            except BaseException as error:
                result.append(error)
            del call, arguments, result
            done.release()
            del done


_all: "weakref.WeakSet[Local]" = weakref.WeakSet()
_workers: list[_Worker] = []


def _worker():
    if not _workers:
        _workers.append(_Worker())
    return _workers[0]


def _after_fork_in_child():
    """Threads and services stay in the parent."""
    _workers.clear()
    for transport in list(_all):
        transport._after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)

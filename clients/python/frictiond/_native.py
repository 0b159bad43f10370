# SPDX-License-Identifier: MIT
"""The shared library libfrictiond (frictiond.h), and the program of the service."""
import ctypes
import functools
import os
import pathlib

ABI = 1
BUNDLED = pathlib.Path(__file__).parent / "native"  # only in wheels
PLACES = ("/usr/bin", "/usr/local/bin")
c_char_p, c_size_t, c_uint64, c_void_p = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_void_p

OK, E_MEMORY, E_ARGUMENT, E_KERNELS, E_FORKED = range(5)
OPTIONS = ("threads", "max_json_bytes", "max_frame_bytes", "max_answer_bytes", "max_contacts", "max_vertices",
           "memory_bytes", "pool_bytes", "idle_seconds", "sets", "sets_per_caller", "set_bytes", "set_bytes_per_caller",
           "set_idle_seconds")


class Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), *((name, c_uint64) for name in OPTIONS), ("kernels", c_char_p)]


class Given(ctypes.Structure):
    """struct frictiond_piece of a request. `bytes` also takes an address; a bytes object is kept alive."""
    _fields_ = [("bytes", c_char_p), ("n", c_size_t)]


class Piece(ctypes.Structure):
    """struct frictiond_piece of an answer."""
    _fields_ = [("bytes", c_void_p), ("n", c_size_t)]


class Header(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Request(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("method", c_char_p), ("target", c_char_p), ("content_type", c_char_p),
                ("accept", c_char_p), ("if_none_match", c_char_p), ("if_match", c_char_p),
                ("if_unmodified_since", c_char_p), ("if_collision_set_version", c_char_p), ("request_id", c_char_p),
                ("caller", c_char_p), ("pieces", c_void_p), ("n_pieces", c_size_t), ("stop", c_void_p)]


class Answer(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("content_type", c_char_p), ("headers", ctypes.POINTER(Header)),
                ("n_headers", c_size_t), ("pieces", ctypes.POINTER(Piece)), ("n_pieces", c_size_t),
                ("body_bytes", c_size_t), ("copied_bytes", c_uint64), ("status", ctypes.c_int32)]


FUNCTIONS = {  # name: (result, arguments)
    "frictiond_version": (c_char_p, []),
    "frictiond_reason": (c_char_p, [ctypes.c_int]),
    "frictiond_create": (ctypes.c_int, [ctypes.POINTER(Options), ctypes.POINTER(c_void_p)]),
    "frictiond_destroy": (None, [c_void_p]),
    "frictiond_memory": (c_size_t, [c_void_p]),
    "frictiond_call": (ctypes.c_int, [c_void_p, c_void_p, c_void_p]),
    "frictiond_answer_free": (None, [c_void_p]),
}


@functools.cache
def library() -> ctypes.CDLL:
    """The library: FRICTIOND_LIBRARY if set, else the one in the package, else the system's."""
    given, name = os.environ.get("FRICTIOND_LIBRARY"), f"libfrictiond.so.{ABI}"
    bundled = BUNDLED / name
    path = given or (str(bundled) if bundled.exists() else name)
    try:
        loaded = ctypes.CDLL(path)
        for function, (result, arguments) in FUNCTIONS.items():
            entry = getattr(loaded, function)
            entry.restype, entry.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        where = f"FRICTIOND_LIBRARY is {given!r}. " if given else ""
        raise ImportError(f"frictiond.local needs the library {name}: {error}. {where}Install a wheel of frictiond, which"
                          " contains it, or Debian's package libfrictiond1; or build it (make all) and set"
                          " FRICTIOND_LIBRARY to its path (build/release/libfrictiond.so). frictiond.Client needs no"
                          " library") from None
    return loaded


def program() -> str:
    """The path of the service's program: FRICTIOND_PROGRAM if set, else the one in the package, else the system's."""
    given = os.environ.get("FRICTIOND_PROGRAM")
    for path in [given] if given else [str(BUNDLED / "frictiond"), *(f"{folder}/frictiond" for folder in PLACES)]:
        if os.access(path, os.X_OK) and _is_program(path):
            return path
    raise FileNotFoundError(f"the program frictiond is not {'at ' + given if given else 'in this package'}. Install a"
                            " wheel of frictiond, which contains it, or Debian's package frictiond; or set"
                            " FRICTIOND_PROGRAM to its path")


def _is_program(path):
    """Whether the file is a binary. The command of this package has the same name, but is a script."""
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"

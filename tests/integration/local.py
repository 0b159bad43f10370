"""libfrictiond.so through ctypes: the structs of <frictiond.h>, member by member."""
import ctypes as c

from conftest import ROOT

LIBRARY = ROOT / "build/release/libfrictiond.so"
OK, MEMORY, ARGUMENT, KERNELS, FORKED = range(5)
CONDITIONS = {"content-type": "content_type", "accept": "accept", "if-none-match": "if_none_match",
              "if-match": "if_match", "if-unmodified-since": "if_unmodified_since",
              "if-collision-set-version": "if_collision_set_version"}


class Piece(c.Structure):
    _fields_ = [("bytes", c.c_void_p), ("n", c.c_size_t)]


class Header(c.Structure):
    _fields_ = [("name", c.c_char_p), ("value", c.c_char_p)]


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), *((name, c.c_uint64) for name in (
        "threads", "max_json_bytes", "max_frame_bytes", "max_answer_bytes", "max_contacts", "max_vertices",
        "memory_bytes", "pool_bytes", "idle_seconds", "sets", "sets_per_caller", "set_bytes", "set_bytes_per_caller",
        "set_idle_seconds")), ("kernels", c.c_char_p)]


class Request(c.Structure):
    _fields_ = [("size", c.c_size_t), *((name, c.c_char_p) for name in (
        "method", "target", "content_type", "accept", "if_none_match", "if_match", "if_unmodified_since",
        "if_collision_set_version", "request_id", "caller")),
        ("pieces", c.POINTER(Piece)), ("n_pieces", c.c_size_t), ("stop", c.c_void_p)]


class Answer(c.Structure):
    _fields_ = [("size", c.c_size_t), ("content_type", c.c_char_p), ("headers", c.POINTER(Header)),
                ("n_headers", c.c_size_t), ("pieces", c.POINTER(Piece)), ("n_pieces", c.c_size_t),
                ("body_bytes", c.c_size_t), ("copied_bytes", c.c_uint64), ("status", c.c_int32)]


def load():
    library = c.CDLL(str(LIBRARY))
    library.frictiond_create.argtypes = [c.POINTER(Options), c.POINTER(c.c_void_p)]
    library.frictiond_call.argtypes = [c.c_void_p, c.POINTER(Request), c.POINTER(c.POINTER(Answer))]
    library.frictiond_answer_free.argtypes = [c.POINTER(Answer)]
    library.frictiond_destroy.argtypes = [c.c_void_p]
    library.frictiond_memory.argtypes = [c.c_void_p]
    library.frictiond_memory.restype = c.c_size_t
    return library


class Service:
    def __init__(self, **options):
        self.library = load()
        self.service = c.c_void_p()
        code = self.library.frictiond_create(Options(size=c.sizeof(Options), **options), self.service)
        assert code == OK, code

    def close(self):
        self.library.frictiond_destroy(self.service)

    def call(self, method, target, body=None, headers=(), pieces=None):
        """(status, {header in lower case: value}, body, bytes that were copied). body: bytes; pieces: a list of them."""
        pieces = pieces or ([] if body is None else [body])
        request = Request(size=c.sizeof(Request), method=method.encode(), target=target.encode("latin-1"))
        for name, value in dict(headers).items():
            setattr(request, CONDITIONS[name.lower()], value.encode("latin-1"))
        kept = [c.create_string_buffer(piece, len(piece)) for piece in pieces]
        request.pieces = (Piece * len(kept))(*(Piece(c.addressof(piece), len(piece)) for piece in kept))
        request.n_pieces = len(kept)
        out = c.POINTER(Answer)()
        code = self.library.frictiond_call(self.service, request, out)
        assert code == OK, code
        answer = out.contents
        content = b"".join(c.string_at(piece.bytes, piece.n) for piece in answer.pieces[:answer.n_pieces])
        found = {header.name.decode().lower(): header.value.decode("latin-1")
                 for header in answer.headers[:answer.n_headers]}
        if answer.content_type:
            found["content-type"] = answer.content_type.decode()
        assert len(content) == answer.body_bytes or method == "HEAD"
        found["content-length"] = str(answer.body_bytes)
        result = answer.status, found, content, answer.copied_bytes
        self.library.frictiond_answer_free(out)
        return result

# SPDX-License-Identifier: MIT
"""Documents of requests and answers, as JSON and as frames."""
import json
import math
from bisect import bisect_right
from typing import Any

import numpy as np

from ._answer import Answer

Batch = dict[str, Any]  # the document of a request: docs/api.md
FRAME, JSON = "application/vnd.frictiond.frame", "application/json"
DTYPES = {"f64": np.dtype("<f8"), "f32": np.dtype("<f4"), "i32": np.dtype("<i4"), "u32": np.dtype("<u4"),
          "i64": np.dtype("<i8")}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
INDICES = ("rows", "cols", "indptr", "indices", "status", "vertices", "feature", "current_feature")  # integer fields of answers
LISTS = ("shape", "skipped", "notes", "looks_like", "entry")  # fields of answers that stay lists
VELOCITIES = ("velocities", "body_velocities")  # fields of a query: where to evaluate
PLACE = (*VELOCITIES, "current_positions")
TERMS = ("terms", "time_step")  # which energies
WANTED = ("outputs", "collision_outputs", "hessian", "line", "vectors", "position_jacobian",
          "longest_step")  # and what to return
QUERY = PLACE + TERMS + WANTED


# ---- writing ----

def encode_frame(document: Batch) -> bytes:
    """A document as a frame (docs/frame.md): its NumPy arrays in binary, everything else as text.

        open("batch.frame", "wb").write(frictiond.encode_frame(batch))
    """
    return b"".join(_pieces(*_split(document)))


def body_of(document, frames):
    """(pieces, media type) of a document: bytes, and arrays that are not copied."""
    document, tail = _split(document) if frames else (document, [])
    return (_pieces(document, tail), FRAME) if tail else ([_json(document)], JSON)


def joined(body):
    """(one piece, media type), independent of the caller's arrays."""
    pieces, kind = body
    return [pieces[0] if len(pieces) == 1 else b"".join(pieces)], kind


def _split(document):
    """The document with references in place of arrays, and the parts of its tail."""
    tail = []
    return _refer(document, "", tail, 0)[0] if isinstance(document, dict) else document, tail


def _refer(members, pointer, tail, end):
    """A dict with references in place of arrays, which go to the tail, and the tail's new length."""
    # No function within _split: one that calls itself would keep the arrays until Python collects garbage.
    referred = {}
    for name, value in members.items():
        if isinstance(value, dict):
            value, end = _refer(value, f"{pointer}/{name}", tail, end)
        elif hasattr(value, "__array__"):
            array = _numbers(value, f"{pointer}/{name}")
            if array.ndim and array.size:
                offset = (end + 63) // 64 * 64  # 8 is required; 64 is a cache line
                if offset > end:
                    tail.append(bytes(offset - end))
                tail.append(array)
                end = offset + array.nbytes
                value = {"dtype": NAMES[array.dtype], "shape": array.shape, "offset": offset}
        referred[name] = value
    return referred, end


def _pieces(document, tail):
    text = _json(document)
    text += b" " * (-(8 + len(text)) % 64)
    return [len(text).to_bytes(8, "little") + text, *tail]


def _numbers(value, pointer=""):
    """The array, C-contiguous, with a dtype that frames allow and the same numbers."""
    array = np.asarray(value)
    if array.dtype in NAMES and array.flags.c_contiguous:
        return array
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f":
        dtype = "f32" if size <= 4 else "f64"
    elif kind == "i" or (kind == "u" and size < 4):
        dtype = "i32" if size <= 4 else "i64"
    elif kind == "u":
        dtype = "u32" if size == 4 else "i64" if not array.size or array.max() < 2**63 else "f64"
    else:
        raise TypeError(f"{pointer and pointer + ': '}an array of {array.dtype} does not contain real numbers")
    return array.astype(DTYPES[dtype], order="C", copy=False)


def _lists(value):
    if hasattr(value, "__array__"):
        return _numbers(value).tolist()
    raise TypeError(f"{type(value).__name__} in a batch: {value!r:.80}")


_encode = json.JSONEncoder(allow_nan=False, default=_lists).encode
_decode = json.JSONDecoder().raw_decode


def _json(document):
    try:
        return _encode(document).encode()
    except ValueError:
        raise ValueError(_not_finite(document) or "the document has a loop") from None


def _not_finite(value, pointer=""):
    """An error that names the place of a NaN or an infinity, which JSON cannot represent."""
    value = _lists(value) if hasattr(value, "__array__") else value
    if isinstance(value, float) and not math.isfinite(value):
        return f"{pointer}: {value} is not finite"
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    return next(filter(None, (_not_finite(member, f"{pointer}/{key}") for key, member in members)), None)


# ---- reading ----

def decode_frame(data: bytes) -> Answer:
    """The document of a frame, with its arrays as read-only NumPy views of data (bytes). Raises ValueError if data is
    not a frame.

        answer = frictiond.decode_frame(open("answer.frame", "rb").read())
    """
    return Answer(_read_frame([memoryview(data).toreadonly()], None))


def answer_of(pieces, kind, convert):
    """An answer; convert: with arrays in place of its lists of numbers. Like those of frames, they are read-only, and
    indices are i32 if they fit. pieces: read-only memoryviews; arrays of frames are views of them. Raises
    ValueError."""
    of_list = _array if convert else None
    if kind == FRAME:
        return Answer(_read_frame(pieces, of_list))
    document = json.loads(bytes_of(pieces))
    if not isinstance(document, dict):
        raise ValueError("the document is not an object")
    return Answer(_replace(document, None, of_list) if convert else document)


def document_of(pieces, kind):
    """The document that was sent as these pieces."""
    return _read_frame([memoryview(piece) for piece in pieces], None) if kind == FRAME else json.loads(b"".join(pieces))


def bytes_of(pieces):
    return pieces[0].tobytes() if len(pieces) == 1 else b"".join(pieces)


def _read_frame(pieces, of_list):
    first = pieces[0] if pieces else b""
    start = 8 + int.from_bytes(first[:8], "little")
    if len(first) < 8 or start % 64 or start > len(first):
        raise ValueError("not a frame: wrong length")
    ends, n_bytes = [], 0
    for piece in pieces:
        n_bytes += len(piece)
        ends.append(n_bytes)

    def view(reference):
        dtype, shape, offset = (reference.get(key) for key in ("dtype", "shape", "offset"))
        if (len(reference) != 3 or str(dtype) not in DTYPES or not isinstance(shape, list)
                or not all(type(n) is int and n >= 0 for n in [offset, *shape]) or offset % 8):
            raise ValueError(f"not a frame: bad reference {reference}")
        count, begin = math.prod(shape), start + offset
        if begin + count * DTYPES[dtype].itemsize > n_bytes:
            raise ValueError(f"not a frame: {reference} leaves the tail")
        k = bisect_right(ends, begin) if begin < n_bytes else 0
        begin = begin - (ends[k] - len(pieces[k])) if count else 0
        array = np.frombuffer(pieces[k], DTYPES[dtype], count, begin)
        return array if len(shape) == 1 else array.reshape(shape)

    try:
        text = str(first[8:start], "utf-8").strip(" \t\n\r")
        document, end = _decode(text)
        if end < len(text) or not isinstance(document, dict):
            raise ValueError("not a frame: the document is not an object")
        return _replace(document, view, of_list)
    except RecursionError:
        raise ValueError("not a frame: nested too deeply") from None


def _replace(members, of_reference, of_list):
    """Puts arrays in place of references and of lists of numbers (None: these stay). Changes the dict."""
    for name, value in members.items():
        if type(value) is dict:
            members[name] = (of_reference(value) if of_reference and "dtype" in value
                             else _replace(value, of_reference, of_list))
        elif type(value) is list:
            members[name] = of_list(name, value) if of_list else _in_list(value, of_reference)
    return members


def _in_list(values, of_reference):
    """References may be elements of lists, too."""
    return [value if type(value) not in (dict, list) else _replace({"": value}, of_reference, None)[""]
            for value in values]


def _array(name, value):
    """A list of numbers as an array; other lists unchanged."""
    if name in LISTS:
        return value
    is_index = name in INDICES and value and type(value[0]) is int and max(value) < 2**31
    try:
        array = np.array(value, np.int32 if is_index else None)
    except ValueError:  # ragged
        return value
    if array.dtype.kind not in "fi":
        return value
    if name in INDICES and not is_index and (array < 2**31).all():  # empty, or rows of indices
        array = array.astype(np.int32)
    array.flags.writeable = False
    return array


# ---- the parts of a batch ----

def merge(target, patch):
    """The document after a JSON Merge Patch (RFC 7396); neither is changed."""
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        target[name] = merge(target.get(name), value)
    return {name: value for name, value in target.items() if patch.get(name, value) is not None}


def parts_of(batch):
    """The contacts of a batch, as a set's document, and the rest of it, a query."""
    expect_dict(batch)
    lagged = {name: value for name, value in batch.items() if name not in QUERY}
    n = size_of(batch.get("velocities", ()))
    if n and "n_vertices" not in batch and batch.get("dim") in (2, 3):
        lagged["n_vertices"] = n // batch["dim"]
    return lagged, {name: batch[name] for name in QUERY if name in batch}


def with_velocities(batch):
    """A batch without n_vertices, which has to agree with its velocities."""
    expect_dict(batch)
    n = batch.get("n_vertices")
    if n is None:
        return batch
    if "velocities" in batch and size_of(batch["velocities"]) != n * batch["dim"]:
        raise ValueError(f"n_vertices is {n}, but velocities has {size_of(batch['velocities'])} numbers")
    return {name: value for name, value in batch.items() if name != "n_vertices"}


def expect_dict(batch):
    if not isinstance(batch, dict):
        raise TypeError(f"a batch is a dict, not {type(batch).__name__}")


def size_of(value):
    return sum(map(size_of, value)) if isinstance(value, (list, tuple)) else np.size(value)


def anchors_of(answer):
    return {name: np.asarray(group["anchor"]) for name, group in answer.get("collisions", {}).items()
            if "anchor" in group}

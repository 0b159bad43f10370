# SPDX-License-Identifier: MIT
"""Hessians of answers as SciPy matrices."""
from collections.abc import Mapping
from typing import Any

import numpy as np

PATTERN = {"csr": ("indptr", "indices"), "bsr": ("indptr", "indices"), "triplets": ("rows", "cols")}


def hessian_matrix(answer: Mapping[str, Any], batch: Mapping[str, Any] | None = None,
                   pattern: Mapping[str, Any] | None = None) -> Any:
    """The Hessian of an answer, of any format and triangle, as a symmetric scipy.sparse.csr_matrix of all DOFs.

    The DOFs of vertices come first, then those of bodies. The pattern depends only on the stencils. The format
    `factors` needs the batch, for its dim, vertices and bodies. If the answer was requested without its pattern
    ("pattern": False), give the pattern that Set.pattern returns for the same format and triangle.

        H = frictiond.hessian_matrix(client.evaluate(batch), batch)
        dv = scipy.sparse.linalg.spsolve(M / h + H, -residual)    # Newton step of implicit Euler
    """
    from scipy.sparse import bsr_matrix, coo_matrix, csr_matrix
    if "hessian" not in answer:
        raise ValueError('the answer has no Hessian: ask for {"outputs": ["hessian"]}')
    h = {**(pattern or {}), **answer["hessian"]}
    missing = [name for name in PATTERN.get(h["format"], ()) if name not in h]
    if missing:
        raise ValueError(f"the Hessian has no {' and '.join(missing)}: it came without its pattern, so give that of the"
                         f' format {h["format"]} as pattern=, from Set.pattern("{h["format"]}")')
    shape = tuple(int(n) for n in h["shape"])
    size = np.shape(h["data"])[-1] if h["format"] == "bsr" and len(h["indices"]) else 1  # width of a block
    if h["format"] == "bsr" and size > 1:
        matrix = bsr_matrix((h["data"], h["indices"], h["indptr"]), shape, float).tocsr()
    elif h["format"] == "bsr":
        matrix = csr_matrix(shape)
    elif h["format"] == "csr":
        matrix = csr_matrix((h["data"], h["indices"], h["indptr"]), shape, float, copy=True)
    else:
        factors = h["format"] == "factors"
        rows, cols, values = _blocks(h, batch, answer) if factors else (h["rows"], h["cols"], h["values"])
        matrix = coo_matrix((values, (rows, cols)), shape, float).tocsr()
    # In a full matrix, every contact has entries on both sides of the diagonal, so a triangle can be recognized.
    filled = np.flatnonzero(np.diff(matrix.indptr))
    first, last = matrix.indices[matrix.indptr[filled]], matrix.indices[matrix.indptr[filled + 1] - 1]
    first, last, blocks = first // size, last // size, filled // size  # diagonal blocks are whole
    if not (first >= blocks).all() and not (last <= blocks).all():
        return matrix
    half = matrix.tocoo()
    other = half.row // size != half.col // size
    return coo_matrix((np.concatenate([half.data, half.data[other]]),
                       (np.concatenate([half.row, half.col[other]]), np.concatenate([half.col, half.row[other]]))),
                      shape).tocsr()  # not half + half.T, which would drop zeros from the pattern


def _blocks(h, batch, answer):
    """Rows, columns, values of the blocks J^T A J of the format `factors`; for groups of vertices, J is (w x P)^T."""
    if batch is None:
        raise ValueError("the format factors needs the batch")
    dim, parts = batch["dim"], [(np.empty(0, int), np.empty(0, int), np.empty(0))]
    for name, group in batch["collisions"].items():
        a = np.asarray(h[name]["inner"])
        if not a.size:
            continue
        if "bodies" in group:
            of, size, first = group["bodies"], 3 * (dim - 1), answer["n_vertices"] * dim
            J = np.asarray(h[name]["jacobian"])                         # [n, m, k*size]
        else:
            of, size, first = group["vertices"], dim, 0
            J = np.einsum("nk,nam->nmka", h[name]["weights"], h[name]["tangent_basis"])
        n, m = len(a), J.shape[1]
        J = J.reshape(n, m, -1)
        A, (row, column) = np.empty((n, m, m)), np.triu_indices(m)
        A[:, row, column] = A[:, column, row] = a.reshape(n, -1)
        dofs = (first + np.asarray(of).reshape(n, -1, 1) * size + np.arange(size)).reshape(n, -1)
        k = dofs.shape[1]
        parts.append((np.repeat(dofs, k, axis=1).ravel(), np.tile(dofs, (1, k)).ravel(),
                      (J.transpose(0, 2, 1) @ A @ J).ravel()))
    return (np.concatenate(arrays) for arrays in zip(*parts))


def claims_of(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Claims as a request has them: a SciPy matrix becomes triplets."""
    hessian = claims.get("hessian")
    if not hasattr(hessian, "tocoo"):
        return dict(claims)
    matrix = hessian.tocoo()
    return {**claims, "hessian": {"format": "triplets", "shape": list(matrix.shape), "rows": matrix.row,
                                  "cols": matrix.col, "values": matrix.data}}

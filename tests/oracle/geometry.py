"""Closest point, tangent basis, distance of a stencil, and the normal that turns the basis to a grain."""
import os
import sys

from mpmath import mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from algebra import Degenerate, columns, cross, dot, exact, largest, minus, norm, normal_basis, size, unit  # noqa: E402


def require_length(vector, ends, reason, margins):
    limit, length = largest(*ends) * mpf('1e-15'), norm(vector)
    if limit:
        margins.see(length / limit - 1, 1000)
    if length <= limit:
        raise Degenerate(reason)


def require_area(product, a, b, reason, margins):
    limit = mpf('1e-12') * norm(a) * norm(b)
    length = norm(product)
    if limit:
        margins.see(length / limit - 1, 1000)
    if length <= limit:
        raise Degenerate(reason)


def solve_gram(a, b, d):
    """x, y minimising |x a + y b - d|. Precision makes up for the squared condition number."""
    aa, ab, bb, ad, bd = dot(a, a), dot(a, b), dot(b, b), dot(a, d), dot(b, d)
    det = aa * bb - ab * ab
    return [(ad * bb - bd * ab) / det, (bd * aa - ad * ab) / det]


def point_line(p, margins):
    e, r = minus(p[2], p[1]), minus(p[0], p[1])
    require_length(e, p[1:], 'zero_length_edge', margins)
    alpha = dot(r, e) / dot(e, e)
    if len(e) == 2:
        return [alpha], columns(unit(e)), size(e[0] * r[1] - e[1] * r[0]) / norm(e)
    limit = largest(*p[:2]) * mpf('1e-15')
    if norm(r) <= limit:
        raise Degenerate('vertex_on_edge')
    area = cross(e, r)
    require_area(area, e, r, 'vertex_on_edge', margins)
    return [alpha], columns(unit(e), unit(area)), norm(area) / norm(e)


def line_line(p, margins):
    a, b = minus(p[1], p[0]), minus(p[3], p[2])
    require_length(a, p[:2], 'zero_length_edge', margins)
    require_length(b, p[2:], 'zero_length_edge', margins)
    n = cross(a, b)
    require_area(n, a, b, 'parallel_edges', margins)
    d = minus(p[2], p[0])
    beta = solve_gram(a, [-x for x in b], d)
    return beta, columns(unit(a), unit(cross(n, a))), size(dot(n, d)) / norm(n)


def point_plane(p, margins):
    e, f = minus(p[2], p[1]), minus(p[3], p[1])
    require_length(e, p[1:3], 'collapsed_triangle', margins)
    require_length(f, [p[1], p[3]], 'collapsed_triangle', margins)
    n = cross(e, f)
    require_area(n, e, f, 'collapsed_triangle', margins)
    r = minus(p[0], p[1])
    return solve_gram(e, f, r), columns(unit(e), unit(cross(n, e))), size(dot(n, r)) / norm(n)


def point_point(p, margins):
    n = minus(p[1], p[0])
    require_length(n, p, 'coincident_vertices', margins)
    exact_n = [b - a for a, b in zip(exact(p[0]), exact(p[1]))]
    return [], normal_basis(n, exact_n), norm(n)


def half_space(p, normal, origin):
    basis = normal_basis(normal, exact(normal))
    distance = size(dot(unit(normal), minus(p[0], origin))) if p and origin else None
    return [], basis, distance


DERIVE = {'vertex_vertex': point_point, 'edge_vertex': point_line, 'edge_edge': line_line, 'face_vertex': point_plane}


def sides(group, beta):
    """Barycentric weights of the two primitives, in the order of the stencil."""
    one = mpf(1)
    if group == 'vertex_vertex':
        return [one], [one]
    if group == 'edge_vertex':
        return [one], [1 - beta[0], beta[0]]
    if group == 'edge_edge':
        return [1 - beta[0], beta[0]], [1 - beta[1], beta[1]]
    if group == 'face_vertex':
        return [one], [1 - beta[0] - beta[1], beta[0], beta[1]]
    return [one], []


# --- grain ------------------------------------------------------------------------------------------------------

def across_edge(p):
    """The component of p - e0 across the edge."""
    e, r = unit(minus(p[2], p[1])), minus(p[0], p[1])
    return minus(r, [dot(e, r) * x for x in e])


NORMAL = {'vertex_vertex': lambda p: minus(p[1], p[0]), 'edge_vertex': across_edge,
          'edge_edge': lambda p: cross(minus(p[1], p[0]), minus(p[3], p[2])),
          'face_vertex': lambda p: cross(minus(p[2], p[1]), minus(p[3], p[1]))}


def unit_normal(group, p):
    """The direction of NORMAL. A vertex on the line of its edge, which only 2D allows, counts as lying to its left."""
    n = NORMAL[group](p)
    if len(n) == 2 and not any(n):
        e = minus(p[2], p[1])
        n = [-e[1], e[0]]
    return unit(n)


def grain_basis(grain, normal, margins):
    """The grain's direction in the tangent plane is the first column."""
    n = unit(normal)
    limit, sine = mpf('1e-12') * norm(grain), norm(cross(grain, n))
    margins.see(sine / limit - 1, 1000)
    if sine <= limit:
        raise Degenerate('grain_along_normal')
    margins.see(sine / norm(grain), 100)
    first = unit(minus(grain, [dot(grain, n) * x for x in n]))
    return columns(first, cross(n, first))

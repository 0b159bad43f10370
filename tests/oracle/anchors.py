"""Which anchors new contacts take over from old ones, from the contract alone: that of the same stencil; otherwise the
nearest old contact's with a vertex in common on each side; otherwise zero. Places are fractions."""
import os
import sys
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import features  # noqa: E402
from stencils import STENCIL, groups_of, per_row, rows  # noqa: E402


class Old:
    def __init__(self, group, vertices, anchor, plane=None):
        self.group, self.vertices, self.anchor, self.plane = group, tuple(vertices), anchor, plane
        split = features.SPLIT[group]
        self.first, self.second = set(self.vertices[:split]), set(self.vertices[split:])

    def place(self, positions):
        """The closest point on the first side."""
        p = [positions[v] for v in self.vertices]
        w = features.weights(self.group, features.search(self.group, p, self.vertices, judged=False).beta)
        split = features.SPLIT[self.group]
        return features.mix(p[:split], w[:split])


def old_contacts(collisions, dim):
    """In the order of types, which is that of ties."""
    out = []
    for group in groups_of(dim):
        fields = collisions.get(group, {})
        stencils = rows(fields.get('vertices', []), STENCIL[group])
        n = len(stencils)
        zero = [tuple([0.0] * dim)] * n
        given = per_row(fields['anchor'], n, dim) if 'anchor' in fields else zero
        planes = [None] * n
        if group == 'plane_vertex':
            stencils = [(v,) for v in stencils]
            planes = list(zip(*(per_row(fields.get(k, []), n, dim) for k in ('plane_normal', 'plane_origin'))))
        out += [Old(group, *row) for row in zip(stencils, given, planes)]
    return out


class Choice:
    """The anchor, and all that rounding of places could choose instead."""

    def __init__(self, anchor, others=()):
        self.anchor, self.allowed = anchor, [anchor, *others]


def choices(old, new, positions, dim):
    zero = tuple([0.0] * dim)
    return [of_plane(old, c, zero) if c.group == 'plane_vertex' else of_pair(old, c, positions, zero) for c in new]


def of_plane(old, contact, zero):
    mine = [o for o in old if o.group == 'plane_vertex' and o.vertices == contact.vertices]
    same = [o for o in mine if o.plane == (contact.plane[1], contact.plane[2])]
    return Choice((same or mine)[0].anchor if mine else zero)


def of_pair(old, contact, positions, zero):
    for o in old:
        if o.group == contact.group and o.vertices == contact.vertices:
            return Choice(o.anchor)
    here = Old(contact.group, contact.vertices, zero)
    place, found = here.place(positions), []
    for i, o in enumerate(old):
        straight = o.first & here.first and o.second & here.second
        if o.group != 'plane_vertex' and (straight or (o.first & here.second and o.second & here.first)):
            anchor = o.anchor if straight else tuple(-x for x in o.anchor)
            found.append((features.square(features.minus(o.place(positions), place)), i, anchor))
    if not found:
        return Choice(zero)
    best = min(found, key=lambda x: x[:2])
    size = max(abs(x) for v in contact.vertices for x in positions[v])
    blur = (size * Fraction(1, 10 ** 13)) ** 2 + best[0] * Fraction(1, 10 ** 12)
    return Choice(best[2], [x[2] for x in found if x[0] <= best[0] + blur])

"""Random queries for /v1/jvp and /v1/vjp: a request of generate_laws.py with few contacts in a group, random subsets of
its fields, tangents and cotangents.

query(seed) depends only on the seed: a dict with `request`, `tangents`, `cotangents`, `wrt`. The law follows from
the seed, so that any twelve in a row have them all. Queries keep away from points where a derivative is not unique (the
two branches of a minimum, the root of a product at zero), and from numbers that a double cannot hold.
"""
import json
import os
import random
import sys

from mpmath import mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import generate_laws  # noqa: E402
import laws  # noqa: E402
import oracle  # noqa: E402
from algebra import Margins, flat  # noqa: E402
from derivatives import BARRIER, Derivatives, fields_of, shaped, symmetric, value_at  # noqa: E402

SAFE, LARGEST, SMALLEST = 1e-6, 1e290, 1e-250
KINDS = [*((law, None) for law in laws.LAWS), ('smooth', 'peak'), ('smooth', 'quadratic')]
SPEEDS = ('velocities', 'eps_v', 'stribeck_speed', 'surface_velocity', 'anchor')
LENGTHS = ('positions', 'point', 'plane_origin', 'spin_radius', 'roll_radius', *BARRIER)
QUERIES = ('outputs', 'hessian', 'collision_outputs', 'line', 'vectors')


def query(seed):
    """The first attempt of this seed that is acceptable."""
    law, transition = KINDS[seed % len(KINDS)]
    for attempt in range(1000):
        rng = random.Random(f'derivatives/{seed}/{attempt}')
        request = build(rng, law, transition)
        if request is None:
            continue
        asked = ask(rng, request)
        if acceptable(asked):
            return asked
    raise AssertionError(f'seed {seed}: nothing acceptable in 1000 attempts')


# --- the request ------------------------------------------------------------------------------------------------------

class Few(generate_laws.Plain):
    """One to four contacts per group, sometimes none; generate.py makes slivers and nearly parallel edges."""

    def tiny(self):
        return super().tiny() if self.chance(0.8) else 10 ** self.rng.uniform(-6, -3)


class Rng(random.Random):
    """Groups of the usual sizes are too slow here, so the largest sizes are left out."""

    def choice(self, values):
        if values == [0, 1, 1, 2, 3, 4, 6] or values == [0, 1, 1, 2, 3, 5]:
            values = [0, 1, 1, 2, 2, 3, 3, 4]
        return super().choice(values)


def build(rng, law, transition):
    rng = Rng(rng.random())
    builder = Few(rng)
    base = builder.bare() if rng.random() < 0.2 else builder.build()
    if base is None:
        return None
    request = generate_laws.Dresser(rng, builder, base).dress(law)
    if transition:
        request['friction']['mu_transition'] = transition
    for k in QUERIES:
        request.pop(k, None)
    lagged(rng, request)
    return request


def lagged(rng, request):
    """Often adds lagged velocities if there are ellipses, so that their direction is not constant."""
    for there, name in (('velocities', 'lagged_velocities'), ('body_velocities', 'lagged_body_velocities')):
        if request.get(there) and name not in request and "_aniso'" in repr(request['collisions']) and rng.random() < 0.5:
            size = unit(request, '/' + there)
            request[name] = shaped([rng.gauss(0, 1) * size for _ in flat(request[there])], request[there])


# --- the query -----------------------------------------------------------------------------------------------------

def ask(rng, request):
    fields = fields_of(request)
    some = [p for p in fields if rng.random() < rng.choice([0.2, 0.5, 1])] or fields[:1]
    wrt = [p for p in fields if rng.random() < rng.choice([0.2, 0.5, 1])] or fields[-1:]
    rng.shuffle(wrt)
    return {'request': request, 'tangents': {p: tangent(rng, request, p) for p in some},
            'cotangents': cotangents(rng, request), 'wrt': wrt}


def unit(request, pointer):
    """A typical size of a field: its largest number or, if all are 0, the largest number in similar fields."""
    def largest(names):
        return max((abs(x) for p in fields_of(request) if p.rpartition('/')[2] in names
                    for x in flat(value_at(request, p))), default=0)
    name, own = pointer.rpartition('/')[2], max(map(abs, flat(value_at(request, pointer))), default=0)
    if own:
        return own
    for kind in (SPEEDS, LENGTHS):
        if name in kind or name.rpartition('_')[2] in kind:
            return largest([x for x in kind if x not in BARRIER]) or 1
    return 1


def tangent(rng, request, pointer):
    value, size = value_at(request, pointer), unit(request, pointer)
    numbers = [rng.choice([0, 1, 1, 1]) * rng.gauss(0, 1) * size for _ in flat(value)]
    return shaped(symmetric(numbers) if 'materials' in pointer else numbers, value)


def cotangents(rng, request):
    """Scaled so that potential and gradient have comparable effects."""
    d, out = request['dim'], {}
    speed = max((unit(request, p) for p in ('/velocities', '/body_velocities') if value_at(request, p)), default=1)
    n = len(flat(request.get('velocities', [])))
    bodies = len(flat(request.get('body_positions', []))) // d
    if rng.random() < 0.7:
        out['potential'] = rng.gauss(0, 1)
    if rng.random() < 0.9:
        out['gradient'] = [rng.gauss(0, 1) * speed for _ in range(n)]
    if bodies and rng.random() < 0.9:
        out['body_gradient'] = [[rng.gauss(0, 1) * speed for _ in range(3 * d - 3)] for _ in range(bodies)]
    return out


# --- acceptable requests --------------------------------------------------------------------------------------------

def acceptable(asked):
    request, margins = asked['request'], Margins()
    try:
        d = Derivatives(request, margins)
        d.e.answer()
    except oracle.Refused:
        return False
    if margins.worst <= SAFE or not all(generate_laws.well_conditioned(c) and one_branch(c, request) for c in d.e.active()):
        return False
    potential, gradient = d.along(asked['tangents'])
    back = d.back(mpf(asked['cotangents'].get('potential', 0)), d.cotangent(asked['cotangents']), asked['wrt'])
    return all(representable(x) for x in ([potential], gradient, d.gradient, *back.values()))


def representable(numbers):
    """Whether the largest number of a field is far from overflow and underflow."""
    largest = max((abs(x) for x in numbers), default=0)
    return largest == 0 or SMALLEST < largest < LARGEST


def one_branch(c, request):
    """Whether the coefficients of a contact are safely on one side of every decision."""
    friction, e = request['friction'] if 'friction' in request else {}, c.friction
    if friction.get('mu_transition') == 'peak' and (c.mu[0] == c.mu[1] or 0 in c.mu):
        return False
    if 'vertex_mu' in e or 'vertex_mu_s' in e:
        if c.group not in oracle.BODY_GROUPS and e.get('blend') in ('min', 'max', 'geometric_mean', 'harmonic_mean'):
            return all(apart(*pair, e['blend']) for pair in sides_of(c))
    return all(m != 0 for m in c.mu) or not elliptic(c, request)


def apart(a, b, blend):
    if blend in ('min', 'max'):
        return abs(a - b) > SAFE * max(abs(a), abs(b), mpf(SAFE))
    return (min(abs(a), abs(b)) if blend == 'geometric_mean' else abs(a + b)) > SAFE


def sides_of(c):
    """The interpolated coefficients of both sides, static and kinetic."""
    a, b = oracle.sides(c.group, c.beta)
    for name in ('vertex_mu_s', 'vertex_mu_k'):
        mu = c.friction.get('vertex_mu', c.friction.get(name))
        values = [sum((w * mu[v] for w, v in zip(part, vertices)), mpf(0))
                  for part, vertices in ((a, c.members[:len(a)]), (b, c.members[len(a):]))]
        if b:
            yield values


def elliptic(c, request):
    fields = request['collisions'][c.group]
    return 'mu_s_aniso' in fields or 'mu_k_aniso' in fields


def main():
    first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for seed in range(first, first + count):
        print(json.dumps(query(seed)))


if __name__ == '__main__':
    main()

"""Random requests of POST /v1/evaluate with the barrier's energy, searched features and longest steps, valid or not.

request(seed) depends only on the seed. Like those of generate.py, valid requests keep a distance from decisions that
rounding could change, or lie exactly on them (lattices). faulty(seed) gives (request, status, pointer).
"""
import copy
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'reference'))
import barriers  # noqa: E402
import oracle  # noqa: E402
from algebra import Margins  # noqa: E402
from generate import SAFE  # noqa: E402
from make_contacts import LATTICE, built, longest, on_lattice  # noqa: E402

FRICTION_OUTPUTS = ['potential', 'tangential_velocity', 'mu_s', 'mu_k', 'normal_force', 'distance', 'closest_point',
                    'tangent_basis', 'status', 'slip_ratio', 'friction_force', 'feature']
BARRIER_OUTPUTS = ['barrier_potential', 'barrier_force', 'current_distance', 'current_feature']
PARTS = {'vertex_vertex': [([0], [0])], 'plane_vertex': [([0], [])],
         'edge_vertex': [([0], part) for part in ([0, 1], [0], [1])],
         'edge_edge': [(a, b) for a in ([0, 1], [0], [1]) for b in ([0, 1], [0], [1])],
         'face_vertex': [([0], part) for part in ([0, 1, 2], [0, 1], [1, 2], [0, 2], [0], [1], [2])]}


def request(seed):
    for attempt in range(1000):
        made = Builder(random.Random(f'contacts/{seed}/{attempt}'))
        out = made.build()
        if acceptable(out, made.kind == 'aligned'):
            return out
    raise AssertionError(f'seed {seed}: nothing acceptable in 1000 attempts')


def acceptable(out, aligned):
    margins = Margins(aligned)
    try:
        oracle.evaluate(out, margins)
    except oracle.Refused:
        return False
    return margins.worst > SAFE


class Builder:
    def __init__(self, rng):
        self.rng = rng
        self.dim = rng.choice([2, 3, 3, 3])
        self.kind = rng.choice(['plain', 'plain', 'aligned', 'lattice'])
        self.terms = rng.choice([['barrier'], ['barrier', 'friction'], ['friction', 'barrier'], ['friction'], None])
        self.friction, self.barrier = self.terms is None or 'friction' in self.terms, 'barrier' in (self.terms or [])
        self.search = rng.random() < 0.7 or self.kind == 'lattice'
        self.moves = self.barrier and rng.random() < 0.6
        self.dhat = 2.0 ** rng.randrange(-10, 6) * rng.uniform(0.6, 1)
        self.dmin = self.dhat * rng.choice([0, 0, 0.1, 1]) if self.kind == 'plain' else 0
        self.skip = rng.random() < 0.25
        self.positions, self.current = [], []

    def chance(self, p):
        return self.rng.random() < p

    def shaped(self, rows):
        return oracle.flat(rows) if self.chance(0.25) else rows

    # --- stencils -----------------------------------------------------------------------------------------------

    def fraction(self):
        """Distance over dmin, in dhat."""
        how = self.rng.random()
        if self.skip and self.dmin and self.chance(0.15):
            return self.rng.uniform(-0.9, -0.1) * self.dmin / self.dhat  # penetration
        if how < 0.1:
            return self.rng.uniform(1.01, 2)
        if how < 0.4 and not self.dmin:
            return 10 ** self.rng.uniform(-12, -1)
        return self.rng.uniform(0.01, 0.99)

    def contact(self, group):
        """Numbers of new vertices, (normal, origin) of a plane."""
        lattice = [p for g, dim, p in LATTICE if g == group and dim == self.dim]
        if self.kind == 'lattice' and lattice:
            points, plane = on_lattice(self.rng, self.rng.choice(lattice), self.dim), None
            scale = 2.0 ** (self.rng.randrange(-4, 1) + round(math.log2(self.dhat / longest(points))))
            points = [[x * scale for x in p] for p in points]
        else:
            d = self.dmin + self.dhat * self.fraction()
            size = d * 10 ** self.rng.uniform(-1, 4)
            if self.kind == 'aligned':
                size = self.dhat * 10 ** self.rng.uniform(-1, 2)
            first, second = self.rng.choice(PARTS[group] if self.search else PARTS[group][:1])
            kind = 'aligned' if self.kind == 'aligned' else 'plain'
            sine = self.rng.choice([0.9, 0.3, 0.02])
            points, plane = built(self.rng, (group, self.dim, first, second, sine), kind, d, size)
        first = len(self.positions)
        self.positions += points
        moved = points
        if self.moves and self.kind == 'plain':
            scale = 10 ** self.rng.uniform(-3, -1) * self.dhat
            moved = [[x + self.rng.uniform(-1, 1) * scale for x in p] for p in points]
        self.current += moved
        return list(range(first, first + len(points))), plane

    def group(self, name):
        rng, n = self.rng, self.rng.choice([0, 1, 2, 2, 3, 4])
        made = [self.contact(name) for _ in range(n)]
        stencils = [s for s, _ in made]
        fields = {'vertices': [s[0] for s in stencils] if name == 'plane_vertex' else self.shaped(stencils)}
        if name == 'plane_vertex':
            normal, origin = [[0.0] * (self.dim - 1) + [1.0]], [[0.0] * self.dim]
            fields['plane_normal'] = self.shaped([p[0] for _, p in made] or normal)
            fields['plane_origin'] = self.shaped([p[1] for _, p in made] or origin)
        if name == 'edge_edge' and self.chance(0.6):
            fields['mollifier'] = [self.mollifier(s) for s in stencils]
            if n and self.chance(0.2):
                fields['mollifier'] = fields['mollifier'][0]
        if self.chance(0.4):
            fields['weight'] = [rng.choice([-1.5, 0, 1, 2, rng.uniform(0, 3)]) for _ in range(n)]
        if self.friction and not self.barrier and self.chance(0.4):
            fields['normal_force'] = [rng.uniform(0, 5) for _ in range(n)]
        if self.friction and self.chance(0.3):
            fields['mu'] = rng.choice([0.5, [rng.uniform(0, 1) for _ in range(n)]])
        if self.friction and self.chance(0.3):
            fields['anchor'] = self.shaped([[rng.gauss(0, 1) for _ in range(self.dim)] for _ in range(n)])
        if self.friction and self.chance(0.2):
            fields['mu_aniso'] = [[rng.uniform(0.3, 2) for _ in range(self.dim - 1)] for _ in range(n)]
        if self.friction and self.dim == 3 and self.chance(0.15):
            fields['grain'] = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(n)]
        if self.friction and self.dim == 3 and self.chance(0.2):
            fields['mu_s_aniso'] = [[rng.uniform(0, 1), rng.uniform(0.1, 1)] for _ in range(n)]
        return fields

    def mollifier(self, stencil):
        p = [[oracle.mpf(x) for x in self.current[v]] for v in stencil]
        c = float(oracle.contacts.potential.area_squared(p))
        size = longest([self.current[v] for v in stencil]) ** 4
        return self.rng.choice([0, size * 1e-3, c * 0.5, c * 2, c * 30])

    # --- the request --------------------------------------------------------------------------------------------

    def build(self):
        rng, out = self.rng, {'dim': self.dim, 'collisions': {}}
        names = [g for g in oracle.GROUPS if self.dim == 3 or g not in ('edge_edge', 'face_vertex')]
        for name in rng.sample(names, rng.randrange(1, len(names) + 1)):
            out['collisions'][name] = self.group(name)
        if not self.positions:
            self.positions, self.current = [[0.0] * self.dim], [[0.0] * self.dim]
        n = len(self.positions)
        speed = 10 ** rng.uniform(-2, 1)
        vectors = [[rng.gauss(0, 1) * speed for _ in range(self.dim)] for _ in range(n)]
        if self.terms:
            out['terms'] = self.terms
        if self.search or self.chance(0.3):
            out['closest_features'] = 'search' if self.search else 'given'
        if self.friction or self.chance(0.3):
            out['velocities'] = self.shaped(vectors)
            out['friction'] = {'mu': rng.uniform(0, 1), 'eps_v': speed * 10 ** rng.uniform(-1, 1)}
            if self.chance(0.3):
                out['friction'] = {'mu_s': 0.8, 'mu_k': 0.3, 'eps_v': speed}
        if self.moves:
            out['current_positions'] = self.shaped(self.current)
        if self.friction or not self.moves or self.chance(0.5):
            out['positions'] = self.shaped(self.positions)
        out['barrier'] = {'dhat': self.dhat, 'stiffness': 10 ** rng.uniform(-2, 6)}
        if self.dmin:
            out['barrier']['dmin'] = self.dmin
        if self.chance(0.8):
            out['barrier']['type'] = rng.choice(barriers.TYPES)
        if self.chance(0.5):
            out['barrier']['scaling'] = rng.choice(['none', 'physical'])
        if self.barrier and self.chance(0.5):
            out['time_step'] = rng.choice([1, 0.01, 2.5])
        if self.skip:
            out['on_degenerate'] = 'skip'
        self.outputs(out, vectors)
        keys = list(out)
        rng.shuffle(keys)
        return {k: out[k] for k in keys}

    def outputs(self, out, vectors):
        rng = self.rng
        wanted = rng.sample(oracle.DEFAULT_OUTPUTS, rng.choice([1, 3, 3])) + ['collisions']
        names = (FRICTION_OUTPUTS if self.friction else []) + (BARRIER_OUTPUTS if self.barrier else [])
        out['collision_outputs'] = rng.sample(names, rng.randrange(1, len(names) + 1))
        if self.chance(0.3):
            out['vectors'] = [[rng.gauss(0, 1) for row in vectors for _ in row] for _ in range(rng.choice([1, 2]))]
            wanted.append('hessian_products')
        if self.chance(0.4):
            scale = self.dhat * 10 ** rng.uniform(-1, 2)
            direction = [[rng.gauss(0, 1) * scale for _ in row] for row in vectors]
            out['longest_step'] = {'direction': self.shaped(direction)}
            if self.chance(0.5):
                out['longest_step']['keep'] = rng.uniform(0.05, 0.9)
            wanted.append('longest_step')
        out['outputs'] = wanted
        out['hessian'] = {'format': rng.choice(['triplets', 'csr', 'bsr']),
                          'triangle': rng.choice(['full', 'upper', 'lower']),
                          'projection': rng.choice(['none', 'clamp', 'clamp', 'abs'])}


# --- malformed requests -----------------------------------------------------------------------------------------

def plain():
    """A good request, which every fault below spoils."""
    return {'dim': 3, 'positions': [[0, 0, 0.05], [0, -1, 0], [1, 1, 0], [-1, 1, 0], [2, 0, 0.1], [-2, 0.5, 0.1]],
            'velocities': [[0.1, 0, 0]] * 6, 'friction': {'mu': 0.3, 'eps_v': 0.01}, 'time_step': 0.1,
            'barrier': {'dhat': 0.2, 'stiffness': 100}, 'terms': ['friction', 'barrier'], 'closest_features': 'search',
            'current_positions': [[0, 0, 0.04], [0, -1, 0], [1, 1, 0], [-1, 1, 0], [2, 0, 0.1], [-2, 0.5, 0.1]],
            'collisions': {'edge_edge': {'vertices': [[2, 3, 4, 5]], 'mollifier': [0.001]},
                           'face_vertex': {'vertices': [[0, 1, 2, 3]]}},
            'outputs': ['potential', 'gradient', 'collisions', 'longest_step'],
            'collision_outputs': ['current_feature'],
            'longest_step': {'direction': [[0, 0, -1]] + [[0, 0, 0]] * 5, 'keep': 0.2}}


FACE = {'vertices': [[0, 1, 2, 3]]}
BASIS = [[[1, 0], [0, 1], [0, 0]]]
BODY = {'body_positions': [[0, 0, 0]], 'body_velocities': [[0] * 6]}
FAULTS = [  # (what is put where, pointer); None takes a member away
    ({'/terms': ['barriers']}, '/terms/0'), ({'/terms': 'barrier'}, '/terms'), ({'/terms': []}, '/terms'),
    ({'/time_step': 0}, '/time_step'), ({'/time_step': -1}, '/time_step'),
    ({'/time_step': 'x'}, '/time_step'), ({'/closest_features': 'searched'}, '/closest_features'),
    ({'/closest_features': 1}, '/closest_features'), ({'/current_positions': [[0, 0, 0]]}, '/current_positions'),
    ({'/current_positions/3/1': 'x'}, '/current_positions/3/1'),
    ({'/current_positions/3': [0, 0]}, '/current_positions/3'),
    ({'/collisions/edge_edge/mollifier': [-1]}, '/collisions/edge_edge/mollifier/0'),
    ({'/collisions/edge_edge/mollifier': [0, 1, 2]}, '/collisions/edge_edge/mollifier'),
    ({'/collisions/face_vertex/mollifier': [0.1]}, '/collisions/face_vertex/mollifier'),
    ({'/collisions/face_vertex/normal_force': [1]}, '/collisions/face_vertex/normal_force'),
    ({'/collisions/face_vertex/tangent_basis': BASIS, '/collisions/face_vertex/closest_point': [[0.3, 0.3]]},
     '/collisions/face_vertex/tangent_basis'),
    ({'/barrier': None}, '/barrier'), ({'/velocities': None}, '/velocities'), ({'/friction': None}, '/friction'),
    ({'/positions': None}, '/positions'),
    ({'/current_positions/0': [0, 0, 0]}, '/collisions/face_vertex/vertices/0'),
    ({'/barrier/dmin': 0.045}, '/collisions/face_vertex/vertices/0'),
    ({'/hessian': {'format': 'factors'}, '/outputs': ['hessian'], '/longest_step': None, '/collision_outputs': None},
     '/hessian/format'),
    ({'/longest_step/keep': 1}, '/longest_step/keep'), ({'/longest_step/keep': 0}, '/longest_step/keep'),
    ({'/longest_step/kept': 0.1}, '/longest_step/kept'), ({'/longest_step/direction': None}, '/longest_step/direction'),
    ({'/longest_step/direction': [[0, 0, 1]]}, '/longest_step/direction'), ({'/longest_step': None}, '/longest_step'),
    ({'/collision_outputs': ['current_features']}, '/collision_outputs/0'), ({'/term': ['barrier']}, '/term'),
]


def faulty(index):
    """(request, status, pointer) of the fault with this number."""
    changes, pointer = FAULTS[index]
    out = copy.deepcopy(plain())
    for where, value in changes.items():
        *names, last = where[1:].split('/')
        holder = out
        for name in names:
            holder = holder[int(name) if isinstance(holder, list) else name]
        if value is None:
            del holder[last]
        elif isinstance(holder, list):
            holder[int(last)] = value
        else:
            holder[last] = value
    return out, 422, pointer


def main():
    import json
    first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for seed in range(first, first + count):
        print(json.dumps(request(seed)))


if __name__ == '__main__':
    main()

"""Requests that combine the options of the contract in pairs: each pair of values of two options occurs in some
request.

cases(seed) makes a covering array: rows such that each value of each factor meets each value of every other one. Each row
becomes a request, in the two parts that a collision set splits it into. Values of numbers follow from the seed; they keep
contacts well away from degenerate geometry, or exactly at it where the row wants contacts that are skipped.
"""
import itertools
import random

FACTORS = {
    'dim': [2, 3],
    'groups': ['planes', 'edges', 'all', 'empty', 'none'],
    'n': [1, 3, 0],
    'bodies': ['none', 'world', 'both', 'no rows'],
    'coefficients': ['mu', 'two', 'vertex', 'materials', 'own'],
    'law': ['cubic', 'peak', 'stribeck', 'exponential', 'curve', 'adhesion'],
    'values': ['one', 'list of one', 'each'],
    'forces': ['given', 'barrier'],
    'geometry': ['derived', 'given'],
    'aniso': ['none', 'scaled', 'ellipses'],
    'offsets': ['none', 'surface_velocity', 'anchor', 'viscous'],
    'lagged': ['none', 'document', 'query', 'both'],
    'lagged_bodies': ['none', 'document', 'query', 'both'],
    'on_degenerate': ['absent', 'error', 'skip', 'faults'],
    'format': ['triplets', 'csr', 'bsr', 'factors'],
    'triangle': ['absent', 'full', 'upper', 'lower'],
    'projection': ['none', 'clamp', 'abs'],
    'pattern': ['absent', 'true', 'false'],
    'outputs': ['default', 'sums', 'line', 'products', 'collisions', 'jacobian', 'everything'],
    'fields': ['velocities', 'lagged', 'geometry', 'coefficients', 'everything'],
    'body': ['json', 'frame'],
    'answer': ['json', 'frame'],
}
# Rows with a barrier, whose groups have neither bodies nor given geometry: an array of its own. Factors that it leaves
# out are chosen at random. Longest steps are in test_contacts_oracle.py, because a service may choose them.
WITH_BARRIER = {
    **{name: FACTORS[name] for name in ('dim', 'triangle', 'projection', 'pattern', 'body', 'answer')},
    'groups': ['planes', 'edges', 'all', 'empty'],
    'n': [1, 3],
    'on_degenerate': ['absent', 'skip', 'faults'],
    'format': ['triplets', 'csr', 'bsr'],
    'outputs': ['default', 'sums', 'products', 'everything'],
    'terms': ['friction', 'barrier', 'both', 'absent'],
    'barrier': ['clamped_log', 'normalized_clamped_log', 'clamped_log_squared', 'cubic', 'two_stage'],
    'scaling': ['absent', 'none', 'physical'],
    'closest_features': ['absent', 'given', 'search'],
    'mollifier': ['none', 'off', 'on'],
    'time_step': ['absent', 'given'],
    'current_positions': ['absent', 'given'],
}
BARE = {'bodies': 'none', 'forces': 'barrier', 'geometry': 'derived'}
# Lagged velocities affect only ellipses, and lagged twists only bodies. These are options with which they have an
# effect.
ALONG = {'dim': 3, 'groups': 'all', 'n': 3, 'bodies': 'both', 'aniso': 'ellipses', 'coefficients': 'two', 'law': 'cubic',
         'offsets': 'none'}
LAYOUT = {  # positions of a contact's vertices, around the origin
    ('vertex_vertex', 3): [[0, 0, 0], [0.1, 0.2, 0.6]], ('vertex_vertex', 2): [[0, 0], [0.2, 0.6]],
    ('edge_vertex', 3): [[0.4, 0.1, 0.5], [0, 0, 0], [1, 0, 0]], ('edge_vertex', 2): [[0.4, 0.5], [0, 0], [1, 0]],
    ('edge_edge', 3): [[-1, 0, 0], [1, 0, 0], [0, -1, 0.4], [0, 1, 0.5]],
    ('face_vertex', 3): [[0.3, 0.25, 0.4], [0, 0, 0], [1, 0, 0], [0, 1, 0]],
    ('plane_vertex', 3): [[0, 0, 0.4]], ('plane_vertex', 2): [[0, 0.4]]}
FAULTY = {
    ('vertex_vertex', 3): [[1, 2, 3], [1, 2, 3]], ('vertex_vertex', 2): [[1, 2], [1, 2]],
    ('edge_vertex', 3): [[0.5, 1, 0], [1, 1, 1], [1, 1, 1]], ('edge_vertex', 2): [[0.5, 1], [1, 1], [1, 1]],
    ('edge_edge', 3): [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]],
    ('face_vertex', 3): [[0, 0, 1], [0, 0, 0], [1, 0, 0], [2, 0, 0]],
    ('plane_vertex', 3): [[0, 0, 0]], ('plane_vertex', 2): [[0, 0]]}
POINT = {'edge_vertex': 1, 'edge_edge': 2, 'face_vertex': 2}
OUTPUTS = ['potential', 'tangential_velocity', 'mu_s', 'mu_k', 'normal_force', 'distance', 'closest_point', 'tangent_basis',
           'status', 'slip_ratio', 'anchor', 'friction_force', 'normal']
CONTACT_OUTPUTS = ['feature', 'current_feature', 'current_distance', 'barrier_potential', 'barrier_force']
TERMS = {'friction': ['friction'], 'barrier': ['barrier'], 'both': ['barrier', 'friction']}
PARALLEL = {'off': 1e-3, 'on': 100}  # |a x b|^2 of LAYOUT's edges is about 16


def cases(seed):
    rng = random.Random(f'combinations/{seed}')
    yield from covering(FACTORS, rng)
    for lagged, of_bodies in itertools.product(FACTORS['lagged'], FACTORS['lagged_bodies']):
        yield {**anything(rng), **ALONG, 'lagged': lagged, 'lagged_bodies': of_bodies}
    for row in covering(WITH_BARRIER, rng):
        yield {**anything(rng), **row, **BARE}


def anything(rng):
    return {name: rng.choice(values) for name, values in FACTORS.items()}


def covering(factors, rng):
    """Greedy: each row takes, factor by factor in random order, the value that completes most missing pairs."""
    names = list(factors)
    left = {(a, x, b, y) for a, b in itertools.combinations(names, 2) for x in factors[a] for y in factors[b]}

    def pair(a, x, b, y):
        return (a, x, b, y) if names.index(a) < names.index(b) else (b, y, a, x)

    while left:
        row, (a, x, b, y) = {}, rng.choice(sorted(left, key=repr))
        row[a], row[b] = x, y
        for name in rng.sample(names, len(names)):
            if name not in row:
                row[name] = max(rng.sample(factors[name], len(factors[name])),
                                key=lambda value, name=name: sum(pair(name, value, k, v) in left for k, v in row.items()))
        left -= {pair(a, row[a], b, row[b]) for a, b in itertools.combinations(names, 2)}
        yield row


class Scene:
    """The request for one row: the set's document and the query on it."""

    def __init__(self, row, seed):
        self.row, self.rng, self.dim = row, random.Random(f'{seed}/{sorted(row.items())!r}'), row['dim']
        self.positions, self.collisions, self.still = [], {}, set()
        self.n_bodies = 3 if row['bodies'] in ('world', 'both') else 0
        self.has_given = row['geometry'] == 'given'
        self.has_barrier = row['forces'] == 'barrier' and not self.has_given
        for group in self.groups():
            self.add_group(group)
        if row['bodies'] == 'both':
            self.add_bodies('body_body', [[0, 1], [2, 0]])
        if self.n_bodies:
            self.add_bodies('body_world', [1, 2])
        self.collisions = self.collisions or {'plane_vertex': {'vertices': []}}
        if self.positions or not self.n_bodies:
            self.positions.append(self.vector())  # in no contact
        self.n_vertices = len(self.positions)
        self.document, self.query = self.make_document(), self.make_query()

    # --- numbers ---

    def number(self, low=0.5, high=1.5):
        return self.rng.uniform(low, high)

    def vector(self, n=None):
        return [self.rng.gauss(0, 1) for _ in range(self.dim if n is None else n)]

    def values(self, n, make=None):
        """A field with one value for all contacts, or one each."""
        make = make or self.number
        how = self.row['values']
        if how == 'each':
            return [make() for _ in range(n)]
        one = make()
        return one if how == 'one' or isinstance(one, list) else [one]

    def basis(self):
        a = self.vector()
        length = sum(x * x for x in a) ** 0.5
        a = [x / length for x in a]
        if self.dim == 2:
            return [[a[0]], [a[1]]]
        b = self.vector()
        along = sum(x * y for x, y in zip(a, b))
        b = [y - along * x for x, y in zip(a, b)]
        length = sum(x * x for x in b) ** 0.5
        return [[x, y / length] for x, y in zip(a, b)]

    # --- contacts ---

    def groups(self):
        chosen = {'planes': ['plane_vertex'], 'edges': ['vertex_vertex', 'edge_vertex'],
                  'all': sorted({group for group, dim in LAYOUT}), 'empty': ['vertex_vertex', 'plane_vertex'], 'none': []}
        return [group for group in chosen[self.row['groups']] if (group, self.dim) in LAYOUT]

    def has_faults(self):
        return self.row['on_degenerate'] == 'faults' and not self.has_given and self.row['groups'] != 'empty'

    def is_faulty(self, group, i, n):
        """For planes only a distance can be degenerate."""
        return self.has_faults() and i == n // 2 and (group != 'plane_vertex' or self.has_barrier)

    def add_group(self, group):
        n = 0 if self.row['groups'] == 'empty' else self.row['n']
        vertices = []
        for i in range(n):
            first, at = len(self.positions), self.vector()
            if group == 'plane_vertex':
                at = [0] * self.dim
            if self.is_faulty(group, i, n):
                self.positions += FAULTY[group, self.dim]
                self.still.update(range(first, len(self.positions)))
            else:
                self.positions += [[x + o + self.rng.uniform(-0.05, 0.05) for x, o in zip(p, at)]
                                   for p in LAYOUT[group, self.dim]]
            vertices.append(list(range(first, len(self.positions))))
        fields = {'vertices': [v[0] for v in vertices] if group == 'plane_vertex' else vertices}
        if group == 'plane_vertex':
            fields['plane_normal'] = [0] * (self.dim - 1) + [2]
            fields['plane_origin'] = [0] * self.dim
        if self.has_given:
            self.add_geometry(group, fields, n)
        if not self.has_barrier:
            fields['normal_force'] = self.values(n)
        if group == 'edge_edge' and self.row.get('mollifier') in PARALLEL:
            fields['mollifier'] = self.values(n, lambda: PARALLEL[self.row['mollifier']] * self.number())
        self.collisions[group] = self.with_options(fields, n)

    def add_geometry(self, group, fields, n):
        fields.pop('plane_origin', None)
        fields['tangent_basis'] = [self.basis() for _ in range(n)]
        if group in POINT:
            fields['closest_point'] = [[self.number(0.1, 0.4) for _ in range(POINT[group])] for _ in range(n)]

    def add_bodies(self, group, bodies):
        n = len(bodies)
        fields = {'bodies': bodies, 'point': [self.vector() for _ in range(n)], 'normal': self.values(n, self.vector),
                  'normal_force': self.values(n), 'roll_radius': self.values(n)}
        if self.dim == 3:
            fields['spin_radius'] = self.values(n)
        if self.row['coefficients'] == 'vertex':
            fields['mu'] = self.values(n)
        self.collisions[group] = self.with_options(fields, n)

    def with_options(self, fields, n):
        row = self.row
        fields['weight'] = self.values(n)
        if row['coefficients'] == 'own':
            fields['mu'] = self.values(n)
            fields['eps_v'] = self.values(n)
        if row['aniso'] == 'scaled':
            fields['mu_aniso'] = self.values(n, lambda: [self.number() for _ in range(self.dim - 1)])
        if row['aniso'] == 'ellipses' and self.dim == 3:
            fields['mu_s_aniso'] = self.values(n, lambda: [self.number(), self.number()])
            if row['law'] in ('curve', 'adhesion'):
                fields['mu_k_aniso'] = fields['mu_s_aniso']
            else:
                fields['mu_k_aniso'] = self.values(n, lambda: [self.number(0.1, 0.4), self.number(0.1, 0.4)])
        if row['offsets'] in ('surface_velocity', 'anchor'):
            fields[row['offsets']] = self.values(n, self.vector)
        return fields

    # --- the request ---

    def friction(self):
        row, f = self.row, {'eps_v': self.number(0.4, 2)}
        one = row['law'] in ('curve', 'adhesion')
        m = 3
        upper = [[self.number() for _ in range(m)] for _ in range(m)]
        table = [[upper[min(i, j)][max(i, j)] for j in range(m)] for i in range(m)]
        if row['coefficients'] == 'mu' or row['coefficients'] == 'two' and one:
            f['mu'] = self.number()
        elif row['coefficients'] == 'two':
            f['mu_s'], f['mu_k'] = self.number(), self.number(0.1, 0.4)
        elif row['coefficients'] == 'vertex':
            f['vertex_mu'] = [self.number() for _ in range(self.n_vertices)]
            f['blend'] = self.rng.choice(['mean', 'min', 'max', 'product', 'geometric_mean', 'harmonic_mean'])
        elif row['coefficients'] == 'materials':
            f['materials'] = {'vertex_material': [self.rng.randrange(m) for _ in range(self.n_vertices)],
                              'plane_material': 1, 'mu': table}
            if self.n_bodies:
                f['materials']['body_material'] = [self.rng.randrange(m) for _ in range(self.n_bodies)]
        if row['law'] == 'peak':
            f['mu_transition'] = 'peak'
        elif row['law'] != 'cubic':
            f['law'] = row['law']
        if row['law'] in ('stribeck', 'exponential'):
            f['stribeck_speed'] = self.number()
        if row['law'] == 'curve':
            f['curve'] = {'speeds': [0, 0.5, 1.5], 'factors': [1, 0.6, 0.8]}
        if row['offsets'] == 'viscous':
            f['viscous'] = self.number()
        return f

    def make_document(self):
        row, document = self.row, {'dim': self.dim}
        if not self.has_given:
            document['positions'] = self.positions
        document['friction'] = self.friction()
        if self.has_barrier:
            document['barrier'] = self.barrier()
        if row.get('closest_features', 'absent') != 'absent':
            document['closest_features'] = row['closest_features']
        if self.has_bodies():
            document['body_positions'] = [self.vector() for _ in range(self.n_bodies)]
        document['collisions'] = self.collisions
        if row['on_degenerate'] in ('error', 'skip', 'faults'):
            document['on_degenerate'] = 'error' if row['on_degenerate'] == 'error' else 'skip'
        self.add_lagged(document, 'document')
        document['n_vertices'] = self.n_vertices
        return document

    def barrier(self):
        fields = {'dhat': 2.0, 'stiffness': self.number(), 'dmin': self.number(0.01, 0.02)}
        if 'barrier' in self.row:
            fields['type'] = self.row['barrier']
        if self.row.get('scaling', 'absent') != 'absent':
            fields['scaling'] = self.row['scaling']
        return fields

    def acts(self):
        """Whether the query asks for the barrier's energy."""
        return self.row.get('terms') in ('barrier', 'both')

    def searches(self):
        """Whether some contact is that of its closest feature, which derivatives.py does not know."""
        return self.row.get('closest_features') == 'search' or any('mollifier' in g for g in self.collisions.values())

    def moved(self):
        """Current positions. Contacts that are degenerate stay exactly so."""
        return [p if v in self.still else [x + self.rng.uniform(-0.05, 0.05) for x in p] for v, p in enumerate(self.positions)]

    def has_bodies(self):
        return self.row['bodies'] != 'none'

    def rows(self):
        return [self.vector() for _ in range(self.n_vertices)]

    def twists(self):
        return [self.vector(3 * self.dim - 3) for _ in range(self.n_bodies)]

    def add_lagged(self, part, name):
        if self.row['lagged'] in (name, 'both') and self.n_vertices:
            part['lagged_velocities'] = self.rows()
        if self.row['lagged_bodies'] in (name, 'both') and self.n_bodies:
            part['lagged_body_velocities'] = self.twists()

    def make_query(self):
        row, query = self.row, {}
        wanted = {'default': None, 'sums': ['potential', 'gradient'], 'line': ['gradient', 'line'],
                  'products': ['hessian_products', 'potential'], 'collisions': ['collisions'],
                  'jacobian': ['position_jacobian', 'hessian'],
                  'everything': ['potential', 'gradient', 'hessian', 'collisions', 'line', 'hessian_products',
                                 'position_jacobian']}[row['outputs']]
        if self.has_given or self.acts():
            wanted = wanted and [w for w in wanted if w != 'position_jacobian']
        if self.acts():
            wanted = wanted and [w for w in wanted if w != 'line']
        if self.n_vertices or not self.has_bodies():
            query['velocities'] = self.rows()
        if self.has_bodies():
            query['body_velocities'] = self.twists()
        self.add_lagged(query, 'query')
        if row.get('terms') in TERMS:
            query['terms'] = TERMS[row['terms']]
        if row.get('time_step') == 'given':
            query['time_step'] = self.number(0.01, 0.1)
        if row.get('current_positions') == 'given':
            query['current_positions'] = self.moved()
        if wanted is not None:
            query['outputs'] = wanted
        query['hessian'] = self.hessian()
        if 'collisions' in (wanted or []):
            query['collision_outputs'] = (OUTPUTS + (['spin', 'rolling'] if self.n_bodies else []) +
                                          (CONTACT_OUTPUTS if 'terms' in row else []))
        if 'line' in (wanted or []):
            query['line'] = self.line()
        if 'hessian_products' in (wanted or []):
            query['vectors'] = [self.vector(self.n_dofs()) for _ in range(2)] if self.n_dofs() else []
        if 'position_jacobian' in (wanted or []):
            form = 'csr' if row['format'] in ('csr', 'bsr') else 'triplets'
            query['position_jacobian'] = {'format': form, 'pattern': row['pattern'] != 'false'}
        return query

    def n_dofs(self):
        return self.n_vertices * self.dim + self.n_bodies * (3 * self.dim - 3)

    def hessian(self):
        row = self.row
        form = 'csr' if row['format'] == 'bsr' and self.n_bodies else row['format']
        hessian = {'format': form, 'projection': row['projection']}
        if form != 'factors' and row['triangle'] != 'absent':
            hessian['triangle'] = row['triangle']
        if row['pattern'] == 'true' or row['pattern'] == 'false' and form != 'factors':
            hessian['pattern'] = row['pattern'] == 'true'
        return hessian

    def line(self):
        line = {'steps': [0, self.number(), -self.number()]}
        if self.n_vertices or not self.has_bodies():
            line['direction'] = self.rows()
        if self.has_bodies():
            line['body_direction'] = self.twists()
        return line

    def whole(self):
        """The body for /v1/evaluate."""
        document = {k: v for k, v in self.document.items() if k != 'n_vertices'}
        return {**document, **self.query}


def flattened(value, key=None):
    """Flattens every array of numbers."""
    if isinstance(value, dict):
        return {k: flattened(v, k) for k, v in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], list):
        return [x for row in value for x in flattened(row)]
    return value


def shuffled(value, rng):
    """The same members in another order."""
    if not isinstance(value, dict):
        return value
    return {k: shuffled(value[k], rng) for k in rng.sample(list(value), len(value))}

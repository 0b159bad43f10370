"""Good documents that together have every field, and copies with one mistake each: (name, request, pointer)."""
import copy
import json

# --- good documents: together they have every field ----------------------------------------------------------------

B3, B2 = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [[1.0], [0.0]]
POSITIONS = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 0.5], [0.3, -0.7, 0.4], [0.2, 0.9, 0.6]]
ROWS = {'vertex_vertex': [[0, 3], [1, 4], [2, 5]], 'edge_vertex': [[3, 0, 1], [4, 0, 1], [5, 0, 2]],
        'edge_edge': [[0, 1, 3, 4], [0, 2, 3, 5], [0, 1, 4, 5]],
        'face_vertex': [[3, 0, 1, 2], [4, 0, 1, 2], [5, 0, 1, 2]], 'plane_vertex': [3, 4, 5]}
POINTS = {'edge_vertex': 1, 'edge_edge': 2, 'face_vertex': 2}


def velocities(dim, scale):
    return [[scale * (i + 1) * (a - 1.5) for a in range(dim)] for i in range(6)]


def document(dim, friction, groups):
    return {'dim': dim, 'velocities': velocities(dim, 0.01), 'lagged_velocities': velocities(dim, 0.02),
            'friction': friction, 'collisions': groups, 'outputs': ['potential', 'gradient', 'hessian', 'collisions', 'line', 'hessian_products'],
            'hessian': {'format': 'csr', 'triangle': 'upper', 'projection': 'clamp'},
            'collision_outputs': ['mu_s', 'status', 'distance'], 'on_degenerate': 'error',
            'line': {'direction': velocities(dim, 0.5), 'steps': [0.0, -1.0, 0.5]},
            'vectors': [[0.5] * (6 * dim)] * 3, 'position_jacobian': {'format': 'csr'}}


def derived(friction):
    groups = {name: {'vertices': rows, 'weight': [1.0, -2.0, 0.5], 'mu_aniso': [[1.0, 2.0], [0.5, 1.0], [1.0, 1.0]],
                     'eps_v': [0.1, 0.2, 0.3]} for name, rows in ROWS.items()}
    groups['vertex_vertex'].update(normal_force=[1.0, 2.0, 0.0])
    groups['edge_edge'].update(mu_s=[0.5, 0.4, 0.3], mu_k=[0.4, 0.3, 0.2])
    groups['edge_edge'].update(mu_s_aniso=[[0.5, 0.4]] * 3, mu_k_aniso=[[0.0, 0.4]] * 3)
    groups['face_vertex'].update(mu=[0.5, 0.0, 0.3])
    groups['plane_vertex'].update(plane_normal=[[0.0, 0.0, 2.0]] * 3, plane_origin=[[0.0, 0.0, -0.1]] * 3)
    barrier = {'dhat': 2.0, 'stiffness': 10.0, 'dmin': 0.001, 'type': 'cubic', 'scaling': 'physical'}
    built = document(3, friction, groups)
    return {**built, 'positions': POSITIONS, 'barrier': barrier, 'outputs': [*built['outputs'], 'position_jacobian']}


def given(dim, friction):
    groups = {name: {'vertices': rows, 'normal_force': [1.0, 2.0, 0.5], 'tangent_basis': [B3 if dim == 3 else B2] * 3}
              for name, rows in ROWS.items() if dim == 3 or name not in ('edge_edge', 'face_vertex')}
    for name in groups:
        if name in POINTS:
            groups[name]['closest_point'] = [[0.25] * POINTS[name]] * 3
    return document(dim, friction, groups)


def lawful(friction):
    """Vertices with every field of laws, moving surfaces and anchors."""
    request = derived(friction)
    for group in request['collisions'].values():
        for name in ('mu', 'mu_s', 'mu_k', 'mu_s_aniso', 'mu_k_aniso'):
            group.pop(name, None)
        group.update(viscous=[0.1, 0.0, 0.2], surface_velocity=[[0.1, 0.0, 0.2]] * 3, anchor=[[0.01, 0.0, 0.02]] * 3,
                     grain=[[1.0, 0.5, 0.25]] * 3)
        if 'stribeck_speed' in friction:
            group.update(stribeck_speed=[0.1, 0.2, 0.3])
    return request


def barrier(friction):
    """Both terms, at positions of their own, with searched features."""
    request = derived(friction)
    for group in request['collisions'].values():
        for name in ('normal_force', 'mu', 'mu_s', 'mu_k', 'mu_s_aniso', 'mu_k_aniso'):
            group.pop(name, None)
    request['collisions']['edge_edge'].update(mollifier=[0.5, 0.0, 2.0])
    del request['line']  # friction alone has it
    return {**request, 'terms': ['friction', 'barrier'], 'closest_features': 'search', 'time_step': 0.25,
            'current_positions': [[x + 0.01 * i, y, z] for i, (x, y, z) in enumerate(POSITIONS)],
            'longest_step': {'direction': velocities(3, 0.5), 'keep': 0.2},
            'outputs': ['potential', 'gradient', 'hessian', 'collisions', 'hessian_products', 'longest_step'],
            'collision_outputs': ['feature', 'current_feature', 'current_distance', 'barrier_potential', 'barrier_force']}


def bodies(dim, friction):
    """Three rigid bodies, in contact with each other and with the world."""
    twists = [[0.1 * (i + 1) * (a - 1.5) for a in range(3 * dim - 3)] for i in range(3)]
    both = {'point': [[0.5, 0.25, 0.0][:dim]] * 3, 'normal': [[1.0, 0.5, 0.25][:dim]] * 3, 'normal_force': [1.0, 2.0, 0.5],
            'roll_radius': [0.1, 0.0, 0.2], 'weight': [1.0, -2.0, 0.5], 'anchor': [[0.01, 0.0, 0.02][:dim]] * 3}
    if dim == 3:
        both.update(spin_radius=[0.1, 0.0, 0.2], grain=[[0.0, 1.0, 0.5]] * 3)
    return {'dim': dim, 'friction': friction, 'body_positions': [[0.0, 0.5, 1.0][:dim], [1.0] * dim, [2.0] * dim],
            'body_velocities': twists, 'lagged_body_velocities': twists,
            'collisions': {'body_body': {'bodies': [[0, 1], [1, 2], [2, 0]], **both},
                           'body_world': {'bodies': [0, 1, 2], **both}},
            'outputs': ['potential', 'gradient', 'hessian', 'collisions', 'line', 'hessian_products'],
            'hessian': {'format': 'csr', 'triangle': 'upper', 'projection': 'clamp'},
            'collision_outputs': ['mu_s', 'spin', 'rolling', 'friction_force'], 'on_degenerate': 'error',
            'line': {'body_direction': twists, 'steps': [0.0, -1.0, 0.5]}, 'vectors': [[0.5] * (9 * dim - 9)] * 3}


TABLE = [[0.5, 0.4], [0.4, 0.3]]
MATERIALS = {'vertex_material': [0, 1, 0, 1, 0, 1], 'plane_material': 1}
GOOD = {
    'derived-s-k': derived({'eps_v': 0.1, 'mu_s': 0.5, 'mu_k': 0.3, 'mu_transition': 'quadratic'}),
    'given-mu': given(3, {'eps_v': 0.1, 'mu': 0.5}),
    'given-vertex-s-k': given(3, {'eps_v': 0.1, 'vertex_mu_s': [0.5] * 6, 'vertex_mu_k': [0.25] * 6, 'blend': 'min'}),
    'given-vertex-2d': given(2, {'eps_v': 0.1, 'vertex_mu': [0.5] * 6, 'blend': 'mean'}),
    'given-table': given(3, {'eps_v': 0.1, 'materials': {**MATERIALS, 'mu': TABLE}}),
    'stribeck': lawful({'eps_v': 0.1, 'mu_s': 0.5, 'mu_k': 0.3, 'law': 'stribeck', 'stribeck_speed': 0.2, 'viscous': 0.1}),
    'curve': lawful({'eps_v': 0.1, 'mu': 0.5, 'law': 'curve',
                     'curve': {'speeds': [0.0, 0.5, 1.5], 'factors': [1.0, 0.5, 0.75]}}),
    'barrier': barrier({'eps_v': 0.1, 'mu': 0.5}),
    'bodies': bodies(3, {'eps_v': 0.1, 'mu': 0.5}),
    'bodies-table-2d': bodies(2, {'eps_v': 0.1, 'materials': {'body_material': [0, 1, 0], 'plane_material': 1, 'mu': TABLE}}),
    'given-table-s-k-2d': given(2, {'eps_v': 0.1, 'materials': {**MATERIALS, 'mu_s': TABLE, 'mu_k': TABLE}}),
}
REQUIRED = {'vectors', 'line', 'direction', 'steps', 'dim', 'velocities', 'collisions', 'friction', 'positions', 'barrier', 'dhat', 'stiffness', 'vertices',
            'plane_normal', 'plane_origin', 'closest_point', 'tangent_basis', 'vertex_material', 'plane_material', 'body_positions', 'body_velocities', 'bodies',
            'point', 'normal', 'body_direction', 'body_material', 'curve', 'speeds', 'factors'}
POSITIVE = {'eps_v', 'dhat', 'stiffness', 'mu_aniso', 'stribeck_speed', 'time_step', 'keep'}
NON_NEGATIVE = {'mu', 'mu_s', 'mu_k', 'vertex_mu', 'vertex_mu_s', 'vertex_mu_k', 'dmin', 'normal_force',
                'mu_s_aniso', 'mu_k_aniso', 'viscous', 'spin_radius', 'roll_radius', 'speeds', 'factors',
                'mollifier'}
INDICES = {'vertices', 'vertex_material', 'plane_material', 'bodies', 'body_material'}
FINE = json.dumps({'dim': 2, 'velocities': [[0.05, 0]], 'friction': {'mu': 0.3, 'eps_v': 0.1}, 'collisions': {
    'plane_vertex': {'vertices': [0], 'normal_force': 1, 'plane_normal': [0, 1]}}}).encode()


def text_of(document_):
    return json.dumps(document_).encode()


# --- mutations: (what, new value or GONE, path of keys to which the pointer must lead) --------------------------------

GONE = object()
NO_NUMBER = {'null': None, 'string': '1', 'true': True, 'object': {'x': 1}}


def is_required(good, path):
    """Whether the document is invalid without this field, with a pointer to the field."""
    name = path[-1]
    if name in ('normal_force', 'tangent_basis'):
        return 'closest_point' in good['collisions'][path[1]] or 'bodies' in good['collisions'][path[1]]
    if name == 'eps_v':
        return path[0] == 'friction' and not all(name in group for group in good['collisions'].values())
    return name in REQUIRED or name in ('mu_s', 'mu_k', 'vertex_mu_s', 'vertex_mu_k')


def objects(value, path):
    yield 'unknown field', {**value, 'no_such/field': 1}, path + ['no_such/field']
    for word, other in {'null': None, 'string': 'x', 'number': 3, 'numbers': [1, 2], 'list': ['x'],
                        'true': True}.items():
        yield f'{word} for an object', other, path


def words(path):
    for word, other in {'null': None, 'number': 3, 'unknown word': 'no such word', 'no word': '', 'list': ['mean'],
                        'object': {}, 'false': False}.items():
        yield f'{word} for a word', other, path


def word_lists(value, path):
    for word, other in {'null': None, 'a word': value[0], 'number': 3, 'object': {}, 'true': True}.items():
        yield f'{word} for a list', other, path
    for word, other in {'number': 3, 'null': None, 'unknown word': 'no such word', 'list': [value[0]],
                        'object': {}}.items():
        yield f'{word} in a list', value + [other], path + [len(value)]


def ranges(name, value):
    if name in POSITIVE:
        yield 'zero', 0.0
    if name in POSITIVE | NON_NEGATIVE:
        yield 'negative', -1e-9
    if name in INDICES:
        yield from {'real': float(value), 'negative': -1, 'too large': 6, 'huge': 1 << 62}.items()
    if name == 'dim':
        yield from {'another': 4, 'zero': 0, 'negative': -value, 'real': float(value)}.items()


def numbers(name, value, path):
    for word, other in {**NO_NUMBER, 'array': [value], 'nest': [[value]], 'nothing': []}.items():
        yield f'{word} for a number', other, path
    for word, other in ranges(name, value):
        yield word, other, path


def leaves(value, path):
    if isinstance(value, list):
        for i, row in enumerate(value):
            yield from leaves(row, path + [i])
    else:
        yield path, value


def arrays(name, value, path):
    for word, other in {**NO_NUMBER, 'strings': ['x', 'y'], 'a longer array': value + [value[0]],
                        'a shorter array': value[:-1], 'extra nesting': [value], 'six levels': [[[[[[1]]]]]]}.items():
        # These fields determine the lengths of others, which would then be at fault instead; steps and vectors may have
        # any length.
        if name not in ('velocities', 'vertices', 'bodies', 'body_positions', 'steps', 'vectors', 'speeds') or word not in ('a longer array', 'a shorter array'):
            yield f'{word} for an array', other, (path + [0] if word == 'strings' else path)
    if isinstance(value[0], list):
        end = len(value) - 1
        yield 'a number for an array', 1.0, path
        yield 'a short row', replaced(value, [1], value[1][:-1]), path + [1]
        yield 'a long row', replaced(value, [end], value[end] + [value[end][0]]), path + [end]
        yield 'a number for a row', replaced(value, [1], 1.0), path + [1]
        yield 'an empty row', replaced(value, [end], []), path + [end]
    else:
        yield 'a row for a number', replaced(value, [1], [value[1]]), path + [1]
    *_, (last, number) = leaves(value, [])
    for word, other in NO_NUMBER.items():
        yield f'{word} for a number inside', replaced(value, last, other), path + last
    for word, other in ranges(name, number):
        if not (name in ('mu', 'mu_s', 'mu_k') and 'materials' in path):
            yield f'{word} inside', replaced(value, last, other), path + last
    if name in ('vertices', 'bodies') and isinstance(value[0], list):
        yield 'a vertex twice', replaced(value, [end, 1], value[end][0]), path + [end]
    if 'materials' in path and not name.endswith('_material'):
        yield 'negative', replaced(value, [1, 1], -1), path + [1, 1]
        yield 'asymmetric', replaced(value, [1, 0], value[1][0] + 1), path + [1, 0]


def replaced(document_, path, value):
    if not path:
        return value
    out = copy.copy(document_)
    if value is GONE and len(path) == 1:
        del out[path[0]]
    else:
        out[path[0]] = replaced(out[path[0]], path[1:], value)
    return out


def mutations_of(good, value, path):
    name = path[-1] if path else ''
    if isinstance(value, dict):
        yield from objects(value, path)
        for key in value:
            yield from mutations_of(good, value[key], path + [key])
    elif isinstance(value, str):
        yield from words(path)
    elif not isinstance(value, list):
        yield from numbers(name, value, path)
    elif isinstance(value[0], str):
        yield from word_lists(value, path)
    else:
        yield from arrays(name, value, path)
    if path and is_required(good, path):
        yield 'missing', GONE, path


def mutations():
    for name, good in GOOD.items():
        for what, value, where in mutations_of(good, good, []):
            pointer = ''.join('/' + str(key).replace('~', '~0').replace('/', '~1') for key in where)
            yield name, what, value, where, pointer


def changed_at(good, where, what):
    """The path of the field whose value a mutation replaces; `where` may lead to a place inside that value."""
    if what == 'unknown field':
        return where[:-1]
    document_, path = good, []
    for key in where:
        if not isinstance(document_, dict):
            break
        document_ = document_[key]
        path.append(key)
    return path


def mutated():
    for name, what, value, where, pointer in mutations():
        good = GOOD[name]
        yield f'{name} {pointer} {what}', replaced(good, changed_at(good, where, what), value), pointer


MUTATED = list(mutated())

# SPDX-License-Identifier: MIT
"""Elastic bodies in contact, stepped with implicit Euler and Newton's method, with barrier and friction from frictiond.
incline.py and drag.py are built on it; copy what you need.

A step of length h finds the positions x that minimise an energy (N m; in 2D per metre of thickness):

    (x - y) M (x - y) / (2 h^2)    inertia and gravity, y = x_t + h v_t + h^2 g
  + elastic(x)                     compressible neo-Hookean
  + barrier(x)                     grows without bound as surfaces approach: keeps them apart and carries loads
  + D(x - x_t)                     friction; the service evaluates both, in one request

Friction works with displacements here: u = x - x_t (m) is sent as `velocities`, x as `current_positions`, and eps_v h
(m) as `eps_v`. The gradient in the answer is then a force (N) and the Hessian a stiffness (N/m), as for the other terms,
with no factor h.

A term has energy(x) and derivatives(x) -> (gradient [n_vertices, dim], sparse Hessian, positive semidefinite).
"""
import argparse
import itertools
import os
import time

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, diags
from scipy.sparse.linalg import splu

import frictiond


# -- meshes -----------------------------------------------------------------------------------------------------------

def block(size, cells):
    """A box with a corner at the origin: vertices [n, dim]; triangles or tetrahedra [m, dim + 1] of positive volume."""
    dim = len(size)
    axes = [np.linspace(0, length, n + 1) for length, n in zip(size, cells)]
    vertices = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dim)
    number = np.arange(len(vertices)).reshape([n + 1 for n in cells])
    simplices = []
    for cell in itertools.product(*map(range, cells)):
        for order in itertools.permutations(range(dim)):  # along the axes in every order, from corner to corner
            path = [np.array(cell)]
            for axis in order:
                path.append(path[-1] + np.eye(dim, dtype=int)[axis])
            simplices.append([number[tuple(corner)] for corner in path])
    simplices = np.array(simplices)
    inverted = np.linalg.det(spans(vertices[simplices])) < 0
    simplices[inverted, :2] = simplices[inverted, 1::-1]
    return vertices, simplices


def spans(corners):
    """Edge vectors from the first corner, as columns: [m, dim + 1, dim] -> [m, dim, dim]."""
    return np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)


def surface(tetrahedra):
    """Triangles [n, 3] of the surface, seen counter-clockwise from outside, and their edges [k, 2]."""
    faces = tetrahedra[:, [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]].reshape(-1, 3)
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    faces = faces[first[count == 1]]
    return faces, np.unique(np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)


def dofs_of(stencils, dim):
    """Numbers of the degrees of freedom of stencils [n, k]: [n, k * dim]."""
    return (stencils[:, :, None] * dim + np.arange(dim)).reshape(len(stencils), stencils.shape[1] * dim)


def gather(dofs, gradients, blocks, shape):
    """Adds up the gradients [n, j] and blocks [n, j, j] of stencils with DOFs [n, j], into an array and a sparse
    matrix."""
    n_dof = shape[0] * shape[1]
    rows, cols = np.broadcast_arrays(dofs[:, :, None], dofs[:, None, :])
    return (np.bincount(dofs.ravel(), gradients.ravel(), n_dof).reshape(shape),
            coo_matrix((blocks.ravel(), (rows.ravel(), cols.ravel())), shape=(n_dof, n_dof)).tocsr())


def project(matrices):
    """Sets negative eigenvalues of symmetric matrices [..., n, n] to zero, so that Newton's steps go downhill."""
    values, vectors = np.linalg.eigh(matrices)
    return (vectors * np.maximum(values, 0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


# -- elasticity -------------------------------------------------------------------------------------------------------

class Elastic:
    """Linear simplices of a compressible neo-Hookean material (2D: plane strain). Density in kg/m^3, Young's modulus in
    Pa. `masses` [n_vertices] in kg are lumped. Damping in s: viscous forces are damping times the stiffness at the
    start of the step times the velocities; they damp vibrations and do not affect the motion of the centre of mass."""

    def __init__(self, rest, simplices, density, young, poisson=0.3, damping=0.0, project=True):
        dim = rest.shape[1]
        inverse = np.linalg.inv(spans(rest[simplices]))
        slopes = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)  # [m, dim + 1, dim]
        self.simplices, self.dofs, self.project = simplices, dofs_of(simplices, dim), project
        # These matrices map the corners' DOFs to the deformation gradient F, row by row.
        self.maps = np.einsum("mkj,ab->majkb", slopes, np.eye(dim)).reshape(len(simplices), dim * dim, -1)
        self.volumes = np.linalg.det(spans(rest[simplices])) / (2 if dim == 2 else 6)
        self.masses = np.bincount(simplices.ravel(), np.repeat(density * self.volumes / (dim + 1), dim + 1), len(rest))
        self.mu = young / (2 * (1 + poisson))
        self.lam = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
        self.damping, self.start, self.viscosity = damping, None, None

    def begin_step(self, x, h):
        if self.damping:
            self.start, self.viscosity = x, self.damping / h * self.elastic_derivatives(x)[1]

    def deformation(self, x):
        corners = x[self.simplices].reshape(len(self.maps), -1, 1)
        F = (self.maps @ corners).reshape(-1, x.shape[1], x.shape[1])
        return F, np.linalg.det(F)

    def energy(self, x):
        """mu/2 (F:F - dim) - mu ln J + lambda/2 ln^2 J, written in terms of H = F - 1: in a hard material those terms
        are so large that their rounding errors would hide the effect of friction from a line search."""
        F, J = self.deformation(x)
        if J.min() <= 0:
            return np.inf  # inverted: the line search will shorten the step
        H = F - np.eye(F.shape[1])
        trace, squares = np.trace(H, axis1=1, axis2=2), (H * H).sum(axis=(1, 2))
        minors = (trace**2 - np.einsum("mij,mji->m", H, H)) / 2 + (np.linalg.det(H) if F.shape[1] == 3 else 0)
        growth = trace + minors  # J - 1
        log = np.log1p(growth)
        energy = self.volumes @ (self.mu * (squares / 2 - minors + (growth - log)) + self.lam / 2 * log**2)
        if self.viscosity is not None:
            u = (x - self.start).ravel()
            energy += u @ (self.viscosity @ u) / 2
        return energy

    def derivatives(self, x):
        gradient, hessian = self.elastic_derivatives(x)
        if self.viscosity is not None:
            gradient += (self.viscosity @ (x - self.start).ravel()).reshape(x.shape)
            hessian = hessian + self.viscosity
        return gradient, hessian

    def elastic_derivatives(self, x):
        F, J = self.deformation(x)
        dim, G, log = F.shape[1], np.swapaxes(np.linalg.inv(F), 1, 2), np.log(J)[:, None, None]
        P = self.mu * (F - G) + self.lam * log * G
        C = self.lam * np.einsum("mij,mkl->mijkl", G, G)
        C += (self.mu - self.lam * log[..., None, None]) * np.einsum("mil,mkj->mijkl", G, G)
        C = C.reshape(-1, dim * dim, dim * dim) + self.mu * np.eye(dim * dim)
        C = self.volumes[:, None, None] * (project(C) if self.project else C)
        P = self.volumes[:, None, None] * P.reshape(-1, 1, dim * dim)
        return gather(self.dofs, P @ self.maps, np.swapaxes(self.maps, 1, 2) @ C @ self.maps, x.shape)


# -- contacts ---------------------------------------------------------------------------------------------------------

class Contacts:
    """The pairs that may touch during a step: {group: vertices [n, k]}, as the service expects them."""

    def __init__(self, groups):
        self.groups = {name: np.asarray(vertices, dtype=np.int32) for name, vertices in groups.items() if len(vertices)}


class Barrier:
    """IPC's clamped log barrier on squared distances, -stiffness (d^2 - dhat^2)^2 ln(d^2/dhat^2), between `contacts`:
    dhat in m, stiffness in N/m^3."""

    def __init__(self, dhat, stiffness):
        self.dhat, self.stiffness, self.contacts = dhat, stiffness, Contacts({})


def stiffness_for(force, dhat):
    """Barrier stiffness (N/m^3) at which a contact that carries `force` (N) has a gap of dhat/2."""
    return force / ((np.log(8) + 2.25) * dhat**3)


# -- friction ---------------------------------------------------------------------------------------------------------

def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return np.array_equal(a, b)


def n_bytes(*documents):
    return sum(len(frictiond.encode_frame(document)) for document in documents)


class Saved:
    """Measures the savings of the collision set: the frames sent and received for it, and the time of a query with the
    set and as a whole request. Every sixteenth evaluation is repeated as a whole request for this."""
    EACH = 16

    def __init__(self):
        self.requests = self.bytes = self.evaluations = 0
        self.pairs = []  # bytes and seconds with the set, and those of whole requests

    def add(self, *documents):
        self.requests += 1
        self.bytes += n_bytes(*documents)

    def compare(self, contacts, client, lagged, query):
        """Sends both forms in alternating order, so that neither always finds warm caches."""
        self.evaluations += 1
        if self.evaluations % self.EACH != 1:
            return
        whole = {**lagged, **query, "hessian": {**query["hessian"], "pattern": True}}
        ways = [lambda: contacts.evaluate(**query), lambda: client.evaluate(whole)]
        took, answers = [0.0, 0.0], [None, None]
        for i in (0, 1) if len(self.pairs) % 2 else (1, 0):
            begin = time.perf_counter()
            answers[i] = ways[i]()
            took[i] = time.perf_counter() - begin
        if not np.array_equal(*(answer["hessian"]["data"] for answer in answers)):
            raise RuntimeError("the collision set and the whole request lead to different answers")
        sizes = [n_bytes(query, answers[0]), n_bytes(whole, answers[1])]
        self.pairs.append((sizes[0], took[0], sizes[1], took[1]))


class Friction:
    """Barrier and friction of the service as a term of the energy.

    lag() fixes what IPC calls lagged: closest points, tangent bases and normal forces, which the service derives from
    the lagged positions and the barrier, and the direction of slip that anisotropic coefficients depend on. Only if all
    of these are fixed is the gradient in the answer the gradient of its potential, as a line search on the energy
    needs."""

    def __init__(self, client, law, eps_v, barrier, **of_groups):
        """law: the request's `friction` without eps_v (m/s); of_groups: {group: further fields of the group}."""
        self.client, self.law, self.eps_v, self.barrier, self.of_groups = client, law, eps_v, barrier, of_groups
        self.contacts, self.lagged, self.pattern = None, {}, None
        self.evaluations, self.limits, self.seconds, self.saved = 0, 0, 0.0, Saved()

    def falls(self):
        """Whether friction falls with slip. If so, a step may have a solution at rest and another one that slides, and
        Newton's method finds the former only if it starts without slip."""
        law = self.law.get("materials", self.law)
        return not same(law.get("mu_s"), law.get("mu_k"))

    def lag(self, x, displacement, start, h):
        """From now on, evaluates friction for the contacts as they are at x, and for motions from `start` during time
        h."""
        self.start, self.last = start, (None, None)
        groups = {name: {"vertices": vertices, **self.of_groups.get(name, {})}
                  for name, vertices in self.barrier.contacts.groups.items()}
        self.touches = bool(groups)
        if self.touches:  # the service would refuse a batch without contacts
            self.tell({
                "dim": x.shape[1], "positions": x, "lagged_velocities": displacement, "collisions": groups,
                "friction": {**self.law, "eps_v": self.eps_v * h},  # velocities are displacements here
                "barrier": {"dhat": self.barrier.dhat, "stiffness": self.barrier.stiffness},
            })

    def tell(self, lagged):
        """Stores the contacts in the service as a collision set; later sends only changes. The pattern of the Hessian
        is valid as long as the stencils stay the same."""
        begin = time.perf_counter()
        changes = {name: value for name, value in lagged.items() if not same(value, self.lagged.get(name))}
        if self.contacts is None:
            self.contacts = self.client.set(lagged)
        else:
            if "collisions" in changes:  # null removes groups that no longer exist
                changes["collisions"] = {**dict.fromkeys(self.lagged["collisions"]), **lagged["collisions"]}
            self.contacts.patch(**changes)
        if "collisions" in changes:
            self.pattern = self.contacts.pattern(format="csr")
        self.seconds += time.perf_counter() - begin
        self.lagged = lagged
        self.saved.add(changes)
        if "collisions" in changes:
            self.saved.add({}, self.pattern)

    def answer(self, x):
        """One request returns energy, gradient and Hessian, and the answer is kept: the line search usually accepts its
        first trial step, and then all three are needed."""
        if not self.touches:
            return {"potential": 0.0, "gradient": np.zeros(x.size), "hessian": csr_matrix((x.size, x.size))}
        if self.last[0] is None or not np.array_equal(self.last[0], x):
            # clamp: barriers, and coefficients that fall from static to kinetic, make the Hessian indefinite
            try:
                answer = self.ask(x, hessian={"format": "csr", "projection": "clamp", "pattern": False})
            except frictiond.Error as error:
                if error.code != "penetration":
                    raise
                return {"potential": np.inf}
            data, shape = answer["hessian"]["data"], (x.size, x.size)
            answer["hessian"] = csr_matrix((data, self.pattern["indices"], self.pattern["indptr"]), shape)
            self.last = x.copy(), answer
        return self.last[1]

    def ask(self, x, **query):
        query.update(velocities=x - self.start, current_positions=x, terms=["barrier", "friction"])
        begin = time.perf_counter()
        answer = self.contacts.evaluate(**query)
        self.seconds += time.perf_counter() - begin
        self.evaluations += "hessian" in query
        self.limits += "longest_step" in query
        self.saved.add(query, answer)
        if "hessian" in query:
            self.saved.compare(self.contacts, self.client, self.lagged, query)
        return answer

    def longest(self, x, p):
        """The step along p, at most 1, that leaves a tenth of every gap, so that nothing passes through a surface."""
        if not self.touches:
            return 1.0
        return self.ask(x, outputs=["longest_step"], longest_step={"direction": p})["longest_step"]["step"]

    def close(self):
        if self.contacts:
            self.contacts.close()

    def energy(self, x):
        return self.answer(x)["potential"]

    def derivatives(self, x):
        answer = self.answer(x)
        return np.reshape(answer["gradient"], x.shape), answer["hessian"]


# -- time -------------------------------------------------------------------------------------------------------------

class NotConverged(Exception):
    def __str__(self):
        return f"{self.args[0]} A smaller time step or a larger eps_v may help."


class Solver:
    """Steps positions x and velocities v [n_vertices, dim]. `pairs(x)` gives the Contacts of the step that starts at x;
    `terms` are further energies, with begin_step(x, h) if they need it. Masses in kg, gravity in m/s^2, h in s."""

    def __init__(self, x, elastic, friction, pairs, h, gravity, fixed=(), terms=(), lags=1):
        self.x, self.v, self.h, self.gravity = x.copy(), np.zeros_like(x), h, np.asarray(gravity, dtype=float)
        self.friction, self.barrier, self.pairs, self.lags = friction, friction.barrier, pairs, lags
        self.terms = [elastic, *terms]
        self.masses = np.zeros(len(x))
        self.masses[:len(elastic.masses)] = elastic.masses
        free = np.ones(x.shape, dtype=bool)
        free[list(fixed)] = False
        self.free = np.flatnonzero(free.ravel())
        self.tolerance = 1e-3 * friction.eps_v * h  # m; friction, not the mesh, determines how small a step must be
        self.steps = self.iterations = 0

    def step(self):
        start, h = self.x, self.h
        self.barrier.contacts = self.pairs(start)
        self.target = start + h * self.v + h**2 * self.gravity
        for term in self.terms:
            if hasattr(term, "begin_step"):
                term.begin_step(start, h)
        x, lagged, displacement = None, start, h * self.v
        for _ in range(self.lags):
            # With more than one lag, the contact forces at the end of the step limit friction, instead of those at its
            # start.
            self.friction.lag(lagged, displacement, start, h)
            x = lagged = self.minimise(self.guess(start) if x is None else x)
            displacement = x - start
        self.x, self.v = x, (x - start) / h
        self.steps += 1

    def guess(self, start):
        """Where Newton's method begins: at the last velocity, if nothing is in the way."""
        p = self.h * self.v
        free = not self.friction.falls() and np.isfinite(sum(term.energy(start + p) for term in self.terms))
        return start + p if free and self.friction.longest(start, p) == 1 else start

    def energy(self, x):
        """Barrier and friction are evaluated last, and only if no other term rules x out."""
        away = x - self.target
        energy = (self.masses[:, None] * away**2).sum() / (2 * self.h**2) + sum(term.energy(x) for term in self.terms)
        return energy + self.friction.energy(x) if np.isfinite(energy) else energy

    def derivatives(self, x):
        weights = np.repeat(self.masses, x.shape[1]) / self.h**2
        gradient, hessian = (weights * (x - self.target).ravel()).reshape(x.shape), diags(weights, format="csr")
        for term in (*self.terms, self.friction):
            g, H = term.derivatives(x)
            gradient, hessian = gradient + g, hessian + H
        return gradient, hessian

    def minimise(self, x):
        energy = self.energy(x)
        for _ in range(200):
            gradient, hessian = self.derivatives(x)
            p, slope = self.direction(gradient, hessian)
            self.iterations += 1
            if abs(p).max() <= self.tolerance:
                return x + self.friction.longest(x, p) * p
            x, energy = self.search(x, energy, p, slope)
        raise NotConverged(f"Newton's method did not converge in step {self.steps}, |p| = {abs(p).max():.2g} m.")

    def direction(self, gradient, hessian):
        p = np.zeros(gradient.size)
        matrix = hessian[self.free][:, self.free].tocsc()
        p[self.free] = -splu(matrix, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(
            gradient.ravel()[self.free])
        return p.reshape(gradient.shape), gradient.ravel() @ p

    def search(self, x, energy, p, slope):
        """Halves the step until the energy decreases, which it must because the Hessian is semidefinite. The longest
        step is nearly always accepted."""
        longest, rounding = self.friction.longest(x, p), 1e-14 * len(self.masses) * abs(energy)
        for alpha in longest / 2.0 ** np.arange(28):
            found = self.energy(x + alpha * p)
            if found <= energy + 1e-4 * alpha * slope + rounding:
                return x + alpha * p, found
        raise NotConverged(f"The line search found no smaller energy in step {self.steps}.")


# -- shared by both programs ------------------------------------------------------------------------------------------

class Clock:
    """Counts evaluations, Newton iterations and seconds of several runs."""

    def __init__(self):
        self.begin, self.solvers = time.perf_counter(), []

    def __str__(self):
        total = time.perf_counter() - self.begin
        friction = sum(solver.friction.seconds for solver in self.solvers)
        counts = [sum(n) for n in zip(*((s.steps, s.iterations, s.friction.evaluations, s.friction.limits)
                                        for s in self.solvers))]
        return (f"{self.saving()}\n"
                f"{counts[0]} steps, {counts[1]} Newton iterations, {counts[2]} evaluations, {counts[3]} longest steps: "
                f"{friction:.2f} s of {total:.2f} s ({100 * friction / total:.0f} %)")

    def saving(self):
        """Requests and bytes of all runs with collision sets, and the times of evaluations sent in both forms."""
        all_saved = [solver.friction.saved for solver in self.solvers]
        n, size = (sum(numbers) for numbers in zip(*((saved.requests, saved.bytes) for saved in all_saved)))
        pairs = [pair for saved in all_saved for pair in saved.pairs]
        kept, t_kept, whole, t_whole = np.median(pairs, axis=0) * [1e-3, 1e3, 1e-3, 1e3]
        asked = sum(solver.friction.evaluations + solver.friction.limits for solver in self.solvers)
        return (f"with collision sets {n} requests, {size / 1e6:.1f} MB; without {asked} requests, about "
                f"{size / 1e6 + (whole - kept) * asked / 1e3:.1f} MB\n"
                f"an evaluation, median of {len(pairs)}: {kept:.1f} kB, {t_kept:.2f} ms with a set; "
                f"{whole:.1f} kB, {t_whole:.2f} ms without")


def number_in(low, high, kind=float):
    """A type for argparse: a number above low and below high."""
    def convert(text):
        value = kind(text)
        if not low < value < high:
            raise argparse.ArgumentTypeError(f"{text} is not between {low} and {high}")
        return value
    convert.__name__ = "number"
    return convert


def picture(path):
    """A type for argparse: a file that can be written. This is checked before all the work is done."""
    if os.path.splitext(path)[1] not in (".svg", ".png", ".pdf") or not os.path.isdir(os.path.dirname(path) or "."):
        raise argparse.ArgumentTypeError(f"{path}: a file .svg, .png or .pdf in a folder that exists")
    return path


def pyplot():
    """Matplotlib, set up to work without a display and to write the same file every time."""
    import matplotlib
    matplotlib.use("agg")
    from matplotlib import pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "frictiond", "svg.fonttype": "none", "font.family": "sans-serif",
                         "font.size": 9, "axes.spines.top": False, "axes.grid": True,
                         "axes.spines.right": False, "grid.color": "0.92", "axes.axisbelow": True,
                         "legend.frameon": False, "axes.titlesize": 10, "axes.titlelocation": "left"})
    return plt


def save(figure, path):
    figure.savefig(path, dpi=110, facecolor="white", metadata={"Date": None} if path.endswith(".svg") else None)

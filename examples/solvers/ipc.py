# SPDX-License-Identifier: MIT
"""Elastic bodies in contact, stepped with implicit Euler and Newton's method, with friction from frictiond. incline.py
and drag.py are built on it; copy what you need.

A step of length h finds the positions x that minimise an energy (N m; in 2D per metre of thickness):

    (x - y) M (x - y) / (2 h^2)    inertia and gravity, y = x_t + h v_t + h^2 g
  + elastic(x)                     compressible neo-Hookean
  + barrier(x)                     grows without bound as surfaces approach: keeps them apart and carries loads
  + D(x - x_t)                     friction, evaluated by the service

Friction works with displacements here: u = x - x_t (m) is sent as `velocities`, and eps_v h (m) as `eps_v`. The
gradient in the answer is then a force (N) and the Hessian a stiffness (N/m), as for the other terms, with no factor h.

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

# The signed distance of every contact is r.(e x f)/|e x f|, where r leads from one side to the other and e and f span
# the plane between them. r, e and f are these sums over the stencil's vertices (plus a constant: `Contacts.constants`).
ARMS = {
    "edge_vertex": [[1, -1, 0], [0, 0, 0], [0, -1, 1]],             # v, e0, e1; 2D, v is left of e0 -> e1
    "edge_edge": [[1, 0, -1, 0], [-1, 1, 0, 0], [0, 0, -1, 1]],     # a0, a1, b0, b1; (a1 - a0) x (b1 - b0) leads to a
    "face_vertex": [[1, -1, 0, 0], [0, -1, 1, 0], [0, -1, 0, 1]],   # v, t0, t1, t2; v is outside
    "plane_vertex": [[1], [0], [0]],
}


class Contacts:
    """The pairs that may touch during a step: {group: vertices [n, k]}, as the service expects them.
    They are oriented, so that the gap of a vertex on the wrong side is negative, not merely small."""

    def __init__(self, groups, dim=3, plane_normal=(0, 0, 1), plane_origin=(0, 0, 0)):
        self.groups = {name: np.asarray(vertices, dtype=np.int32) for name, vertices in groups.items() if len(vertices)}
        # These matrices map a stencil's DOFs (plus constants) to r, e, f, always in three dimensions.
        self.maps = {name: np.kron(ARMS[name], np.eye(3)[:, :dim]) for name in self.groups}
        n = np.asarray(plane_normal, dtype=float) / np.linalg.norm(plane_normal)
        e = np.cross(np.eye(3)[np.argmin(abs(n))], n)
        e /= np.linalg.norm(e)
        self.constants = {"edge_vertex": np.array([0, 0, 0, 0, 0, 1, 0, 0, 0]),
                          "plane_vertex": np.concatenate([-np.asarray(plane_origin, dtype=float), e, np.cross(n, e)])}

    def stencils(self, name):
        return self.groups[name].reshape(-1, len(ARMS[name][0]))

    def arms(self, name, x):
        """r, e, f of a group's contacts, [n, 9]."""
        corners = x[self.stencils(name)]
        return corners.reshape(len(corners), -1) @ self.maps[name].T + self.constants.get(name, 0)

    def gaps(self, x):
        """Signed distances (m), all groups one after the other."""
        return np.concatenate([np.empty(0), *(gap(self.arms(name, x)) for name in self.groups)])

    def closing(self, x, p):
        """How fast the gaps shrink along p: -d gap/d alpha at x + alpha p."""
        rates = []
        for name in self.groups:
            arms = self.arms(name, x)
            rates.append(-(gap_gradient(arms)[0] * (self.arms(name, x + p) - arms)).sum(axis=1))
        return np.concatenate([np.empty(0), *rates])


def gap(arms):
    return gap_gradient(arms)[1]


def gap_gradient(arms):
    """Gradient [n, 9] of the gap with respect to (r, e, f), the gap, and the parts of its Hessian."""
    r, e, f = arms[:, :3], arms[:, 3:6], arms[:, 6:]
    n = cross(e, f)
    area = np.sqrt((n * n).sum(axis=1))[:, None]
    m = n / area
    d = (r * m).sum(axis=1)[:, None]
    q = (r - d * m) / area   # d gap/d n
    return np.concatenate([m, cross(f, q), cross(q, e)], axis=1), d[:, 0], (m, q, area)


def gap_hessian(arms):
    """[n, 9, 9]"""
    _, d, (m, q, area) = gap_gradient(arms)
    Q = (np.eye(3) - m[:, :, None] * m[:, None, :]) / area[:, :, None]           # d m/d n
    qm = q[:, :, None] * m[:, None, :]
    K = -(qm + np.swapaxes(qm, 1, 2) + d[:, None, None] * Q) / area[:, :, None]  # d q/d n
    Ne, Nf = -cross_matrix(arms[:, 6:]), cross_matrix(arms[:, 3:6])              # d n/d e, d n/d f
    NeK, NfK = np.swapaxes(Ne, 1, 2) @ K, np.swapaxes(Nf, 1, 2) @ K
    H = np.zeros((len(arms), 9, 9))
    H[:, :3, 3:6], H[:, :3, 6:], H[:, 3:6, 6:] = Q @ Ne, Q @ Nf, NeK @ Nf - cross_matrix(q)
    H = H + np.swapaxes(H, 1, 2)
    H[:, 3:6, 3:6], H[:, 6:, 6:] = NeK @ Ne, NfK @ Nf
    return H


def cross(a, b):
    """Like np.cross, which is slow for few vectors."""
    return a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]


def cross_matrix(a):
    """[n, 3] -> [n, 3, 3], with cross_matrix(a) @ b = a x b."""
    m = np.zeros((len(a), 3, 3))
    m[:, 2, 1], m[:, 0, 2], m[:, 1, 0] = a.T
    return m - np.swapaxes(m, 1, 2)


class Barrier:
    """IPC's clamped log barrier on squared distances, -stiffness (d^2 - dhat^2)^2 ln(d^2/dhat^2), with the units of the
    service's `barrier`: dhat in m, stiffness in N/m^3. Its normal forces are the same as those that the service
    derives."""

    def __init__(self, dhat, stiffness, project=True):
        self.dhat, self.stiffness, self.project = dhat, stiffness, project
        self.contacts = Contacts({})

    def energy(self, x):
        d = self.contacts.gaps(x)
        if d.size and d.min() <= 0:
            return np.inf
        return self.law(d)[0].sum()

    def law(self, d):
        """Energy, its derivative (the negative normal force) and its second derivative at distances d."""
        D, end = d**2, self.dhat**2
        near = d < self.dhat
        log, over = np.log(np.where(near, D / end, 1)), np.where(near, D - end, 0)
        first = -self.stiffness * (2 * over * log + over**2 / D)
        second = -self.stiffness * (2 * log + 4 * over / D - over**2 / D**2)
        return -self.stiffness * over**2 * log, first * 2 * d, second * 4 * D + 2 * first

    def derivatives(self, x):
        gradient, hessian = np.zeros_like(x), csr_matrix((x.size, x.size))
        for name, map_ in self.contacts.maps.items():
            arms = self.contacts.arms(name, x)
            slope, d, _ = gap_gradient(arms)
            near = d < self.dhat
            _, first, second = self.law(d[near])
            H = second[:, None, None] * slope[near, :, None] * slope[near, None, :]
            H += first[:, None, None] * gap_hessian(arms[near])
            H = project(H) if self.project else H
            dofs = dofs_of(self.contacts.stencils(name)[near], x.shape[1])
            g, H = gather(dofs, first[:, None] * slope[near] @ map_, map_.T @ H @ map_, x.shape)
            gradient, hessian = gradient + g, hessian + H
        return gradient, hessian


def stiffness_for(force, dhat):
    """Barrier stiffness (N/m^3) at which a contact that carries `force` (N) has a gap of dhat/2."""
    return -force / Barrier(dhat, 1).law(np.array([dhat / 2]))[1][0]


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
    """The potential of the service as a term of the energy.

    lag() fixes what IPC calls lagged: closest points, tangent bases and normal forces, which the service derives from
    the lagged positions and the barrier, and the direction of slip that anisotropic coefficients depend on. Only if all
    of these are fixed is the gradient in the answer the gradient of its potential, as a line search on the energy
    needs."""

    def __init__(self, client, law, eps_v, barrier, **of_groups):
        """law: the request's `friction` without eps_v (m/s); of_groups: {group: further fields of the group}."""
        self.client, self.law, self.eps_v, self.barrier, self.of_groups = client, law, eps_v, barrier, of_groups
        self.contacts, self.lagged, self.pattern = None, {}, None
        self.evaluations, self.seconds, self.saved = 0, 0.0, Saved()

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
            # clamp: a coefficient that falls from static to kinetic makes the Hessian indefinite
            answer = self.ask(x, hessian={"format": "csr", "projection": "clamp", "pattern": False})
            data, shape = answer["hessian"]["data"], (x.size, x.size)
            answer["hessian"] = csr_matrix((data, self.pattern["indices"], self.pattern["indptr"]), shape)
            self.last = x.copy(), answer
        return self.last[1]

    def ask(self, x, **query):
        query["velocities"] = x - self.start
        begin = time.perf_counter()
        answer = self.contacts.evaluate(**query)
        self.seconds += time.perf_counter() - begin
        self.evaluations += 1
        self.saved.add(query, answer)
        if "hessian" in query:
            self.saved.compare(self.contacts, self.client, self.lagged, query)
        return answer

    def along(self, x, p, steps):
        """Energies at x + step p, in one request."""
        if not self.touches:
            return np.zeros(len(steps))
        return self.ask(x, outputs=["line"], line={"direction": p, "steps": steps})["line"]["potential"]

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
        self.terms = [elastic, self.barrier, *terms]
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
        x = start if self.friction.falls() else start + h * self.v
        if not np.isfinite(sum(term.energy(x) for term in self.terms)):
            x = start
        lagged, displacement = start, h * self.v
        for _ in range(self.lags):
            # With more than one lag, the contact forces at the end of the step limit friction, instead of those at its
            # start.
            self.friction.lag(lagged, displacement, start, h)
            x = lagged = self.minimise(x)
            displacement = x - start
        self.x, self.v = x, (x - start) / h
        self.steps += 1

    def energy(self, x):
        """Friction is evaluated last, and only if no other term rules x out."""
        energy = self.energy_without_friction(x)
        return energy + self.friction.energy(x) if np.isfinite(energy) else energy

    def energy_without_friction(self, x):
        away = x - self.target
        return (self.masses[:, None] * away**2).sum() / (2 * self.h**2) + sum(term.energy(x) for term in self.terms)

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
                return x + self.longest(x, p) * p
            x, energy = self.search(x, energy, p, slope)
        raise NotConverged(f"Newton's method did not converge in step {self.steps}, |p| = {abs(p).max():.2g} m.")

    def direction(self, gradient, hessian):
        p = np.zeros(gradient.size)
        matrix = hessian[self.free][:, self.free].tocsc()
        p[self.free] = -splu(matrix, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(
            gradient.ravel()[self.free])
        return p.reshape(gradient.shape), gradient.ravel() @ p

    def longest(self, x, p):
        """The step along p, at most 1, that leaves a tenth of every gap, so that nothing passes through a surface.
        Exact if the surface is at rest, otherwise to first order. On the wrong side of a surface the energy is
        infinite."""
        gaps, closing = self.barrier.contacts.gaps(x), self.barrier.contacts.closing(x, p)
        closes = closing > 0
        return (0.9 * gaps[closes] / closing[closes]).min(initial=1)

    def search(self, x, energy, p, slope):
        """Halves the step until the energy decreases, which it must because the Hessian is semidefinite. The longest
        step is nearly always accepted; if not, one request returns the friction of all shorter ones."""
        alpha, rounding = self.longest(x, p), 1e-14 * len(self.masses) * abs(energy)
        found = self.energy(x + alpha * p)
        if found <= energy + 1e-4 * alpha * slope + rounding:
            return x + alpha * p, found
        steps = alpha / 2.0 ** np.arange(1, 28)
        for step, friction in zip(steps, self.friction.along(x, p, steps)):
            trial = x + step * p
            if self.energy_without_friction(trial) + friction <= energy + 1e-4 * step * slope + rounding:
                return trial, self.energy(trial)  # the gradient and Hessian are needed next
        raise NotConverged(f"The line search found no smaller energy in step {self.steps}.")


# -- shared by both programs ------------------------------------------------------------------------------------------

class Clock:
    """Counts evaluations, Newton iterations and seconds of several runs."""

    def __init__(self):
        self.begin, self.solvers = time.perf_counter(), []

    def __str__(self):
        total = time.perf_counter() - self.begin
        friction = sum(solver.friction.seconds for solver in self.solvers)
        counts = [sum(n) for n in zip(*((s.steps, s.iterations, s.friction.evaluations) for s in self.solvers))]
        return (f"{self.saving()}\n"
                f"{counts[0]} steps, {counts[1]} Newton iterations, {counts[2]} evaluations of friction: "
                f"{friction:.2f} s of {total:.2f} s ({100 * friction / total:.0f} %)")

    def saving(self):
        """Requests and bytes of all runs with collision sets, and the times of evaluations sent in both forms."""
        all_saved = [solver.friction.saved for solver in self.solvers]
        n, size = (sum(numbers) for numbers in zip(*((saved.requests, saved.bytes) for saved in all_saved)))
        pairs = [pair for saved in all_saved for pair in saved.pairs]
        kept, t_kept, whole, t_whole = np.median(pairs, axis=0) * [1e-3, 1e3, 1e-3, 1e3]
        evaluations = sum(solver.friction.evaluations for solver in self.solvers)
        return (f"with collision sets {n} requests, {size / 1e6:.1f} MB; without {evaluations} requests, about "
                f"{whole * evaluations / 1e3:.1f} MB\n"
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
    plt.rcParams.update({"svg.hashsalt": "frictiond", "font.size": 9, "axes.spines.top": False, "axes.grid": True,
                         "axes.spines.right": False, "grid.color": "0.92", "axes.axisbelow": True,
                         "legend.frameon": False, "axes.titlesize": 10, "axes.titlelocation": "left"})
    return plt


def save(figure, path):
    figure.savefig(path, dpi=110, facecolor="white", metadata={"Date": None} if path.endswith(".svg") else None)

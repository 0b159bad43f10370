#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A spring drags an elastic block over a rough floor: DOLFINx and PETSc's SNES on any number of MPI ranks.

Every vertex of the bottom lies on a flank of the floor. When all of them slip, every contact force leans from its
flank's normal by the friction angle, so the spring's force is the weight times tan(atan MU + flank) (Patton 1966).
Needs DOLFINx 0.5 (Debian: python3-dolfinx) and the package frictiond."""
import argparse

import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem import petsc
from mpi4py import MPI
from petsc4py import PETSc

import frictiond

SIZE, CELLS = (0.3, 0.1, 0.1), (6, 2, 2)                # m
YOUNG, POISSON, WEIGHT, SPRING = 1e6, 0.3, 30.0, 2e3    # Pa, -, N, N/m
MU, SLIP, DHAT = 0.5, 1e-5, 1e-4                        # -, m: before a contact gives way, m: reach of the barrier
comm = MPI.COMM_WORLD


class Block:
    """Elasticity, weight and spring: an energy, and its first and second derivative."""

    def __init__(self):
        box = mesh.create_box(comm, [np.zeros(3), np.array(SIZE)], CELLS)
        V = fem.VectorFunctionSpace(box, ("CG", 1))
        self.u, self.end = fem.Function(V), fem.Constant(box, 0.0)
        u, G, shear = self.u, ufl.grad(self.u), YOUNG / 2 / (1 + POISSON)
        strain, stretch = (G + G.T + G.T * G) / 2, self.end - u[0]
        elastic = shear * (ufl.inner(strain, strain) + POISSON / (1 - 2 * POISSON) * ufl.tr(strain)**2)
        front = ufl.conditional(ufl.gt(ufl.SpatialCoordinate(box)[0], 0.999 * SIZE[0]), 1 / (SIZE[1] * SIZE[2]), 0)
        energy = (elastic + WEIGHT / np.prod(SIZE) * u[2]) * ufl.dx + SPRING / 2 * stretch**2 * front * ufl.ds
        force = ufl.derivative(energy, u)
        forms = energy, force, ufl.derivative(force, u), SPRING * stretch * front * ufl.ds
        self.energy, self.force, self.stiffness, self.pull = map(fem.form, forms)
        self.rest, self.owned = V.tabulate_dof_coordinates(), V.dofmap.index_map.size_local  # owned ones come first


def add_blocks(A, indptr, indices, data):
    """Adds blocks [n_blocks, 3, 3] in local numbering. PETSc takes a block after the other only by columns."""
    A.setOption(PETSc.Mat.Option.ROW_ORIENTED, False)
    A.setValuesBlockedLocalIJV(indptr, indices, data.swapaxes(1, 2).ravel(), PETSc.InsertMode.ADD)
    A.setOption(PETSc.Mat.Option.ROW_ORIENTED, True)


class Drag:
    """A step: energies of block, barrier and friction. A rank's set has the contacts of the vertices that it owns."""

    def __init__(self, client, block, flank):
        self.block, self.rest, self.u = block, block.rest, block.u.x.array.reshape(-1, 3)
        self.before, self.x = self.u.copy(), petsc.create_vector(block.force)
        self.bottom = np.flatnonzero(self.rest[:block.owned, 2] < 1e-9)
        normal, origin = np.array([-np.sin(flank), 0, np.cos(flank)]), self.rest[self.bottom]
        planes = {"vertices": self.bottom, "plane_normal": normal, "plane_origin": origin - DHAT / 2 * normal,
                  "anchor": np.zeros_like(origin)}
        barrier = {"dhat": DHAT, "stiffness": WEIGHT / 21 / (4.33 * DHAT**3)}  # carries its share at half the reach
        self.contacts = client.set({"dim": 3, "positions": self.rest, "barrier": barrier,
                                    "friction": {"mu": MU, "eps_v": SLIP}, "collisions": {"plane_vertex": planes}})
        pattern = self.contacts.pattern("bsr")
        self.rows = [pattern[name].astype(PETSc.IntType) for name in ("indptr", "indices")]
        self.snes = PETSc.SNES().create(comm)
        self.snes.setFunction(self.residual, petsc.create_vector(block.force))
        self.snes.setJacobian(self.jacobian, petsc.create_matrix(block.stiffness))
        self.snes.setLineSearchPreCheck(self.search)
        self.snes.setTolerances(rtol=0, stol=0, atol=1e-11 * WEIGHT, max_it=50)
        self.snes.setErrorIfNotConverged(True)
        PETSc.Options().insertString("-snes_linesearch_type basic -ksp_type preonly -pc_type lu")
        self.snes.setFromOptions()

    def ask(self, u, *wanted, terms=("friction", "barrier"), **how):
        how |= {"outputs": wanted, "terms": terms, "current_positions": self.rest + u}
        return self.contacts.evaluate(u - self.before, **how)

    def local(self, x):
        """A vector of PETSc, at this rank's vertices and ghosts."""
        x.ghostUpdate(PETSc.InsertMode.INSERT, PETSc.ScatterMode.FORWARD)
        with x.localForm() as whole:
            return whole.array.reshape(-1, 3).copy()

    def residual(self, snes, x, b):
        self.u[:] = self.local(x)
        self.answer = self.ask(self.u, "gradient", "hessian", hessian={"format": "bsr", "pattern": False})
        with b.localForm() as whole:
            whole.array[:] = self.answer["gradient"]
        petsc.assemble_vector(b, self.block.force)
        b.ghostUpdate(PETSc.InsertMode.ADD, PETSc.ScatterMode.REVERSE)

    def jacobian(self, snes, x, J, P):
        P.zeroEntries()
        petsc.assemble_matrix(P, self.block.stiffness)
        add_blocks(P, *self.rows, self.answer["hessian"]["data"])
        P.assemble()
        P.setOption(PETSc.Mat.Option.NEW_NONZERO_LOCATION_ERR, True)  # the pattern stays

    def search(self, x, y):
        """Shortens the step from x to x - y: no vertex passes through the floor, and the energy falls."""
        start, p, slope = self.local(x), -self.local(y), -self.snes.getFunction()[0].dot(y)
        longest = self.ask(start, "longest_step", longest_step={"direction": p})["longest_step"]["step"]
        steps = np.append(0, comm.allreduce(longest, MPI.MIN) * 0.5**np.arange(20))
        line = self.ask(start, "line", terms=["friction"], line={"direction": p, "steps": steps})["line"]  # all trials
        for t, friction in zip(steps, line["potential"]):
            self.u[:] = start + t * p
            contact = friction + self.ask(self.u, "potential", terms=["barrier"])["potential"]
            energy = comm.allreduce(contact + fem.assemble_scalar(self.block.energy))
            if t == 0:
                allowed = energy + 1e-9 * WEIGHT * SLIP  # for rounding
            elif energy <= allowed + 1e-4 * t * slope:
                break
        y.scale(t)
        return True

    def step(self, end):
        """Moves the spring's end. Returns the spring's force, and the number of contacts that slip."""
        self.before, self.block.end.value = self.u.copy(), end
        for lag in range(50):
            self.contacts.patch(positions=self.rest + self.u)
            self.snes.solve(None, self.x)
            self.u[:] = self.local(self.x)
            if self.snes.getIterationNumber() == 0:
                break  # the normal forces are those of the solution
        status = self.ask(self.u, "collisions", collision_outputs=["status"])["collisions"]["plane_vertex"]["status"]
        self.contacts.advance(self.u - self.before, self.rest + self.u)  # carries the anchors
        return comm.allreduce(fem.assemble_scalar(self.block.pull)), comm.allreduce(np.count_nonzero(status == 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", nargs="?", help="the service; by default, every rank has one in its process")
    parser.add_argument("--flank", type=float, default=15.0, help="slope of the flanks in degrees; negative: downhill")
    parser.add_argument("--save", metavar="FILE", help="write vertices and displacements, ordered by place (.npy)")
    options = parser.parse_args()
    client = frictiond.Client(options.url) if options.url else frictiond.local(threads=1)
    drag = Drag(client, Block(), np.radians(options.flank))
    rows = [(end, *drag.step(1e-3 * end)) for end in (0, 4, 8, 12, 16, 20)]
    counts, fields = comm.gather(len(drag.bottom)), comm.gather(np.hstack([drag.rest, drag.u])[:drag.block.owned])
    if comm.rank == 0:
        print(f"contacts of each rank: {counts}\nend, mm  force / weight  slipping")
        print("\n".join(f"{end:7}{force / WEIGHT:16.10f}{slips:10}" for end, force, slips in rows))
        print(f"by theory {np.tan(np.arctan(MU) + np.radians(options.flank)):13.10f}")
        if options.save:
            np.save(options.save, sorted(np.concatenate(fields), key=lambda row: tuple(row[:3].round(9))))


if __name__ == "__main__":
    main()

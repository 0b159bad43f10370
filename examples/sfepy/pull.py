#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Friction as a term of sfepy: a strip between two rough plates is pulled at its end, and released.

The strip slips from the pulled end as far as friction needs to balance the force F: over F/q, where q is twice mu times
the pressure. Along it the force falls linearly, so the end moves by F^2 / (2 EA q). When the force goes back to 0, half
of that length slips back, and half of the way remains. Needs sfepy (Debian: python3-sfepy) and the package frictiond.
"""
import argparse

import numpy as np
from sfepy.base.base import IndexedStruct, output
from sfepy.discrete import Equation, Equations, FieldVariable, Function, Integral, Material, Problem
from sfepy.discrete.conditions import Conditions, EssentialBC
from sfepy.discrete.fem import FEDomain, Field
from sfepy.mechanics.matcoefs import stiffness_from_youngpoisson
from sfepy.mesh.mesh_generators import gen_block_mesh
from sfepy.solvers.ls import ScipyDirect
from sfepy.solvers.nls import Newton
from sfepy.terms import Term, register_term

import frictiond

LENGTH, HEIGHT, N = 1.0, 0.05, 100                    # m, m, elements
YOUNG, PRESSURE, MU, SLIP = 2e4, 10.0, 0.5, 1e-8      # Pa, N/m on either side, -, m before a contact gives way
Q, EA = 2 * MU * PRESSURE, YOUNG * HEIGHT             # N/m, N


class FrictionTerm(Term):
    """The gradient of friction at the displacements since a load step began, and its Hessian as the tangent.

    contacts   a set whose vertices are the nodes of the field, in the field's order
    before     displacements at the beginning of the load step, [n_nodes, dim]
    """
    name = "dw_friction"
    arg_types = ("virtual", "state")
    arg_shapes = {"virtual": ("D", "state"), "state": "D"}
    integration = "point"

    def slip(self, state):
        return state().reshape(self.before.shape) - self.before

    def get_fargs(self, virtual, state, mode=None, term_mode=None, diff_var=None, **kwargs):
        return state, diff_var

    def eval_real(self, shape, fargs, *args, **kwargs):
        """Values, rows and columns, as terms with a connectivity of their own return them. sfepy drops fixed DOFs."""
        state, diff_var = fargs
        if diff_var is None:
            gradient = self.contacts.evaluate(self.slip(state), outputs=["gradient"])["gradient"]
            return (gradient.copy(), np.arange(gradient.size), state), 0
        hessian = self.contacts.evaluate(self.slip(state), outputs=["hessian"])["hessian"]
        return (hessian["values"], hessian["rows"], hessian["cols"], state, state), 0

    def end_step(self, state):
        """Carries the anchors to the next load step. Returns the number of contacts that slip."""
        answer = self.contacts.evaluate(self.slip(state), outputs=["collisions"],
                                        collision_outputs=["anchor", "status"])
        self.contacts.carry(answer)
        self.before = self.before + self.slip(state)
        return np.count_nonzero(answer["collisions"]["plane_vertex"]["status"] == 1)


register_term(FrictionTerm)


class Strip:
    def __init__(self, client):
        mesh = gen_block_mesh([LENGTH, HEIGHT], [N + 1, 2], [LENGTH / 2, HEIGHT / 2], verbose=False)
        domain = FEDomain("strip", mesh)
        omega = domain.create_region("Omega", "all")
        end = domain.create_region("End", f"vertices in x > {LENGTH - 1e-9}", "facet")
        field = Field.from_args("displacement", np.float64, "vector", omega, approx_order=1)
        self.u, v = FieldVariable("u", "unknown", field), FieldVariable("v", "test", field, primary_var_name="u")
        material = Material("m", D=stiffness_from_youngpoisson(2, YOUNG, 0.0))
        load = Material("load", function=Function("pull", self.traction))
        integral = Integral("i", order=2)
        elastic = Term.new("dw_lin_elastic(m.D, v, u)", integral, omega, m=material, v=v, u=self.u)
        pull = Term.new("dw_surface_ltr(load.val, v)", integral, end, load=load, v=v)
        self.friction = Term.new("dw_friction(v, u)", integral, omega, v=v, u=self.u)
        x = field.get_coor()
        share = np.where((x[:, 0] < 1e-9) | (x[:, 0] > LENGTH - 1e-9), 0.5, 1.0) * LENGTH / N
        self.friction.before = np.zeros_like(x)
        self.friction.contacts = client.set({
            "dim": 2, "n_vertices": len(x), "friction": {"mu": MU, "eps_v": SLIP},
            "collisions": {"plane_vertex": {"vertices": np.arange(len(x)), "normal_force": PRESSURE * share,
                                            "plane_normal": np.where(x[:, 1:] > HEIGHT / 2, [0, -1], [0, 1]),
                                            "anchor": np.zeros_like(x)}}})
        self.problem = Problem("pull", equations=Equations([Equation("balance", elastic + self.friction - pull)]))
        self.problem.set_bcs(ebcs=Conditions([EssentialBC("plates", omega, {"u.1": 0.0})]))
        self.status = IndexedStruct()
        newton = {"i_max": 100, "eps_a": 1e-9, "ls_red": 0.5, "ls_min": 1e-9}
        self.problem.set_solver(Newton(newton, lin_solver=ScipyDirect({}), status=self.status))

    def traction(self, ts, coors, mode=None, **kwargs):
        return {"val": np.tile([[[self.force / HEIGHT], [0.0]]], (len(coors), 1, 1))} if mode == "qp" else None

    def pull(self, force):
        """Finds the balance. Returns the displacement of the end, and the length that slips."""
        self.force = force
        self.problem.solve(save_results=False, verbose=False)
        if self.status["condition"] != 0:
            raise RuntimeError("Newton's method has not converged")
        slips = self.friction.end_step(self.u)
        return self.friction.before[:, 0].max(), slips / 2 * LENGTH / N


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", nargs="?", help="the service; by default one in this process")
    options = parser.parse_args()
    output.set_output(quiet=True)
    strip = Strip(frictiond.Client(options.url) if options.url else frictiond.local())
    print("force, N   way, mm  by theory   slips, m  by theory")
    for force in (2.0, 4.0, 6.0, 8.0, 0.0):
        way, length = strip.pull(force)
        most, share = (force, 1.0) if force else (8.0, 0.5)  # at the end, the strip has been released
        expected = share * most**2 / (2 * EA * Q)
        print(f"{force:8.1f}{1e3 * way:10.5f}{1e3 * expected:11.5f}{length:11.3f}{share * most / Q:11.3f}")


if __name__ == "__main__":
    main()

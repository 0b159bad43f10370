#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Blocks on inclines that anchors keep in place, and the loads that anchors hold.

usage: rest.py [URL] [--steps N] [--plot FILE]

Without anchors a block within the friction cone creeps forever, at the speed at which smoothed friction balances its
weight. With them the service returns the deflection of each contact, the next step sends it back, and the block comes
to rest. It breaks away when its load exceeds the largest force of the law, which is mu_s times the normal force with
the transition `peak`.
"""
import numpy as np

from motion import BLUE, G, GREEN, GREY, ORANGE, evaluate, figure, frictiond, options, run, save, step

MASS, MU, EPS_V, STEP = 2.0, 0.5, 1e-3, 1e-3  # kg, -, m/s, s
SLOPES = np.array([0.5, 0.95])                # tan(angle) / mu
MU_S, MU_K = 0.6, 0.3                         # for the blocks that break away


def blocks(n, normal_force, dim=2, **friction):
    """n blocks, each of them one vertex on a plane. "plane_normal" points up, and the plane is turned instead of
    gravity."""
    plane = {"vertices": np.arange(n), "plane_normal": [0] * (dim - 1) + [1], "normal_force": normal_force}
    return {"dim": dim, "friction": friction, "collisions": {"plane_vertex": plane}}


def anchored(request, answer):
    """The request for the next step, with the deflections from the answer."""
    plane = {**request["collisions"]["plane_vertex"], "anchor": answer["collisions"]["plane_vertex"]["anchor"]}
    return {**request, "collisions": {"plane_vertex": plane}}


def rest(client, steps, anchors):
    """Positions [steps + 1, blocks] along the inclines, and speeds."""
    angles = np.arctan(MU * SLOPES)
    request = blocks(len(SLOPES), MASS * G * np.cos(angles), mu=MU, eps_v=EPS_V)
    load = np.column_stack([MASS * G * np.sin(angles), 0 * angles])
    v, at = np.zeros_like(load), [np.zeros(len(SLOPES))]
    for _ in range(steps):
        v, answer = step(client, request, np.full_like(v, MASS), v, load, STEP)
        at.append(at[-1] + STEP * v[:, 0])
        if anchors:
            request = anchored(request, answer)
    return np.array(at), v[:, 0]


def holds(client, request, weight, share, v):
    """Whether a load of this share of the weight is held, starting from `request` and `v`; and the state afterwards, if
    it is held."""
    # The step is long, so that inertia does not carry the block across the peak.
    h, eps_v = 0.1, request["friction"]["eps_v"]
    for _ in range(10000):
        load = np.array([[share * weight, 0]])
        v, answer = step(client, request, np.full((1, 2), weight / G), v, load, h)
        request = anchored(request, answer)
        if answer["collisions"]["plane_vertex"]["status"][0]:
            return False, None
        if abs(v[0, 0]) < 1e-9 * eps_v:
            return True, (request, v)
    raise RuntimeError("the block neither rests nor breaks away")


def break_away(client, mu_s, mu_k, **friction):
    """The largest load that is held, relative to the weight, by bisection. Each load is applied to the block at rest
    under the last load that was held."""
    held, slips, weight = 0.0, 1.7 * mu_s, MASS * G
    state = blocks(1, weight, mu_s=mu_s, mu_k=mu_k, eps_v=1e-6, **friction), np.zeros((1, 2))
    while slips - held > 1e-10:
        share = (held + slips) / 2
        rests, after = holds(client, state[0], weight, share, state[1])
        if rests:
            held, state = share, after
        else:
            slips = share
    return held


def shake(client, n=20, steps=200, seed=1, h=STEP, size=1.5, **friction):
    """Kinetic energy plus the energy stored by anchors, and the work of random loads that push n blocks about: [steps +
    1] each, J. The difference is heat, which never comes back."""
    rng, weight = np.random.default_rng(seed), MASS * G
    friction = friction or {"mu": MU}
    request = blocks(n, weight, dim=3, eps_v=EPS_V, **friction)
    v, request["collisions"]["plane_vertex"]["anchor"] = np.zeros((n, 3)), np.zeros((n, 3))
    none = evaluate(client, request, v, outputs=["potential"])["potential"]
    energy, work, load = [0.0], [0.0], None
    for at in range(steps):
        if at % 5 == 0:
            load = size * MU * weight * rng.normal(size=(n, 3)) * [1, 1, 0]
        v, answer = step(client, request, np.full((n, 3), MASS), v, load, h)
        request = anchored(request, answer)
        stored = h * (evaluate(client, request, 0 * v, outputs=["potential"])["potential"] - none)
        energy.append(MASS * (v**2).sum() / 2 + stored)
        work.append(work[-1] + h * (load * v).sum())
    return np.array(energy), np.array(work)


def main():
    chosen = options(__doc__, steps=10000)
    client = frictiond.Client(chosen.url)
    print(f"on an incline, mu {MU}, eps_v {EPS_V} m/s, {chosen.steps} steps of {STEP} s")
    print("  load / limit  anchors  moved in the last half (m)  analytic")
    paths = {}
    for anchors in (True, False):
        paths[anchors], _ = rest(client, chosen.steps, anchors)
        moved = paths[anchors][-1] - paths[anchors][chosen.steps // 2]
        creep = 0 * SLOPES if anchors else EPS_V * (1 - np.sqrt(1 - SLOPES))
        for share, far, speed in zip(SLOPES, moved, creep):
            print(f"  {share:12}  {'yes' if anchors else 'no':7}{far:28.6g}"
                  f"  {speed * STEP * (chosen.steps - chosen.steps // 2):.6g}")
    print(f"mu_s {MU_S}, mu_k {MU_K}: the largest load held, by normal force")
    for transition in ("peak", "cubic"):
        print(f"  {transition:6}{break_away(client, MU_S, MU_K, mu_transition=transition):14.10f}")
    energy, work = shake(client)
    gained = np.diff(energy - work).max()
    print(f"20 blocks pushed about: work {work[-1]:.4f} J, kinetic and stored {energy[-1]:.4f} J")
    print(f"  gained without work: {'nothing' if gained <= 1e-14 * work[-1] else gained}")
    if chosen.plot:
        draw(chosen.plot, paths, energy, work)


def draw(path, paths, energy, work):
    drawn, (left, right) = figure(2)
    t = STEP * np.arange(len(paths[True]))
    shown = slice(0, 101)
    for at, (share, color) in enumerate(zip(SLOPES, (BLUE, ORANGE))):
        left.plot(t[shown], 1e6 * paths[True][shown, at], color=color, label=f"{share} of the cone, anchored")
        left.plot(t[shown], 1e6 * paths[False][shown, at], "--", color=color, lw=1, label="without anchors")
    left.set(title="Blocks on an incline", xlabel="time (s)", ylabel="way (µm)")
    left.legend()
    t = STEP * np.arange(len(work))
    right.plot(t, work, color=GREY, label="work of random loads")
    right.plot(t, energy, color=GREEN, label="kinetic energy + anchors")
    right.set(title="Blocks pushed about", xlabel="time (s)", ylabel="energy (J)")
    right.legend()
    save(drawn, path)


if __name__ == "__main__":
    run(main)

# SPDX-License-Identifier: MIT
"""An implementation to be checked: friction of the law smooth with the transition cubic, from lagged contacts.

    python3 check.py conformance.json friction
"""
import math

SUPPORTED = {"law:cubic", "mu_aniso", "weight", "shared", "surface_velocity", "grain", "matchsticks", "lagged_velocities",
             "materials", "barrier", "projection", "blend", "type", "dim", "closest_features", "position_jacobian"}


def g(z, mu_s, mu_k):
    """Potential, force and its derivative in units of eps_v: the force is mu(z) (2 z - z^2)."""
    if z >= 1:
        return mu_k * z, mu_k, 0.0
    d = mu_k - mu_s
    force = (mu_s + d * (3 - 2 * z) * z * z) * (2 * z - z * z)
    slope = (mu_s + d * (3 - 2 * z) * z * z) * (2 - 2 * z) + 6 * d * z * (1 - z) * (2 * z - z * z)
    area = lambda x: mu_s * (x**2 - x**3 / 3) + d * (3 * x**4 / 2 - 7 * x**5 / 5 + x**6 / 3)  # noqa: E731
    return mu_k - area(1) + area(z), force, slope


def add(results, c, velocities, dim, projection):
    v, w, basis, a = c["vertices"], c["weights"], c["tangent_basis"], c["mu_aniso"]
    relative = [sum(x * velocities[k][d] for x, k in zip(w, v)) + c["offset"][d] for d in range(dim)]
    u = [a[t] * sum(basis[d][t] * relative[d] for d in range(dim)) for t in range(dim - 1)]
    y, s, eps = math.hypot(*u), c["weight"] * c["normal_force"], c["eps_v"]
    potential, force, slope = g(y / eps, c["mu_s"], c["mu_k"])
    direction = [x / y if y else 0.0 for x in u]
    along, across = s * slope / eps, s * force / y if y else s * slope / eps
    if projection == "clamp":
        along, across = max(along, 0.0), max(across, 0.0)
    if projection == "abs":
        along, across = abs(along), abs(across)
    results["potential"] += s * eps * potential
    spread = [[basis[d][t] * a[t] for t in range(dim - 1)] for d in range(dim)]
    pull = [sum(spread[d][t] * s * force * direction[t] for t in range(dim - 1)) for d in range(dim)]
    inner = [[(across if t == r else 0) + (along - across) * direction[t] * direction[r] if y or t == r else 0
              for r in range(dim - 1)] for t in range(dim - 1)]
    if dim == 2:
        inner = [[along]]
    block = [[sum(spread[d][t] * inner[t][r] * spread[e][r] for t in range(dim - 1) for r in range(dim - 1))
              for e in range(dim)] for d in range(dim)]
    for k, x in zip(v, w):
        for d in range(dim):
            results["gradient"][k * dim + d] += x * pull[d]
            for j, z in zip(v, w):
                for e in range(dim):
                    results["hessian"][k * dim + d][j * dim + e] += x * z * block[d][e]


def evaluate(case):
    request, dim = case["request"], case["request"]["dim"]
    if any(f.split(":")[0] not in SUPPORTED and f not in SUPPORTED for f in case["features"]):
        raise NotImplementedError
    n = len(request["velocities"]) * dim
    results = {"potential": 0.0, "gradient": [0.0] * n, "hessian": [[0.0] * n for _ in range(n)]}
    for contact in case["contacts"]:
        add(results, contact, request["velocities"], dim, request.get("hessian", {}).get("projection", "none"))
    return results

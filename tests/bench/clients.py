#!/usr/bin/python3
"""Measures the time of a request over loopback for a Python client, including the client's own work.

usage: tests/bench/clients.py [URL [LARGEST]]    LARGEST number of contacts, default 100000
       tests/bench/clients.py --sets [URL]       only collision sets

Reports milliseconds: the fastest of 20 to 200 requests on one connection, for face_vertex contacts on a sheet with
given normal forces. For collision sets, the median of requests that alternate between the client and http.client, which
sends the same bytes ready-made and does not parse the response. The figures in docs/performance.md, "What a client
sees", come from one run. Needs NumPy and SciPy.
"""
import json
import math
import pathlib
import statistics
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients/python"))
import frictiond  # noqa: E402

ONLY_SETS = "--sets" in sys.argv
WORDS = [word for word in sys.argv[1:] if word != "--sets"]
URL = WORDS[0] if WORDS else "http://127.0.0.1:8080"
LARGEST = int(WORDS[1]) if len(WORDS) > 1 else 100000


def batch(n, *outputs, **hessian):
    """n contacts of vertex i with the triangle of its neighbours, with about n vertices."""
    random, first, width = np.random.default_rng(1), np.arange(n, dtype=np.int32), math.isqrt(n) + 1
    n_vertices = n + width + 2
    at = np.arange(n_vertices)
    positions = np.stack([at % width, at // width, random.uniform(0, 0.1, n_vertices)], axis=1).astype(float)
    stencils = np.stack([first, first + 1, first + width, first + width + 1], axis=1)
    return {"dim": 3, "positions": positions, "velocities": random.normal(size=(n_vertices, 3)) * 1e-3,
            "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3}, "outputs": list(outputs), "hessian": hessian,
            "collisions": {"face_vertex": {"vertices": stencils, "normal_force": random.uniform(1, 2, n)}}}


def measure(ask, n):
    """Duration of ask() in milliseconds, after a warm-up call."""
    times = []
    for _ in range(max(20, min(200, 20000 // n)) + 1):
        begin = time.perf_counter()
        ask()
        times.append(time.perf_counter() - begin)
    return min(times[1:]) * 1e3


def by_size(frames, text):
    print("| contacts | frame | JSON | frame, a new connection each |\n|---|---|---|---|")
    for n in (10**k for k in range(6) if 10**k <= LARGEST):
        ask = batch(n, "potential", "gradient")
        lists = json.loads(json.dumps(ask, default=lambda array: array.tolist()))

        def alone():
            client = frictiond.Client(URL)
            client.evaluate(ask)
            client.close()

        times = measure(lambda: frames.evaluate(ask), n), measure(lambda: text.evaluate(lists), n), measure(alone, n)
        print(f"| {n} | " + " | ".join(f"{one:.2f}" for one in times) + " |", flush=True)


def by_output(frames, n=min(10000, LARGEST)):
    print("\n| answer | request and answer | with a SciPy matrix made of it |\n|---|---|---|")
    asks = {"potential": batch(n, "potential"), "potential, gradient": batch(n, "potential", "gradient")}
    for kind in ("factors", "csr", "triplets"):
        asks[f"… and Hessian, {kind}"] = batch(n, "potential", "gradient", "hessian", format=kind)
    for name, ask in asks.items():
        matrix = ""
        if "hessian" in ask["outputs"]:
            matrix = f"{measure(lambda: frictiond.hessian_matrix(frames.evaluate(ask), ask), n):.1f}"
        print(f"| {name} | {measure(lambda: frames.evaluate(ask), n):.1f} | {matrix} |", flush=True)


def in_turn(asks, n):
    """Median duration of each in milliseconds; they take turns."""
    times = [[] for _ in asks]
    for _ in range(max(200, min(2000, 200000 // n))):
        for ask, list_of_one in zip(asks, times):
            begin = time.perf_counter()
            ask()
            list_of_one.append(time.perf_counter() - begin)
    return [statistics.median(one) * 1e3 for one in times]


def by_set(client):
    print("\n| contacts | a set | http.client alone | what the client adds |\n|---|---|---|---|")
    for n in (n for n in (100, 100000) if n <= LARGEST):
        whole = batch(n)
        lagged = {name: whole[name] for name in ("dim", "positions", "friction", "collisions")}
        query = {"velocities": whole["velocities"], "outputs": ["potential", "gradient"]}
        with client.set(lagged) as contacts:
            bare, body = frictiond.Client(URL)._transport._connection(), frictiond.encode_frame(query)
            headers = {"Accept": frictiond.FRAME, "Content-Type": frictiond.FRAME}

            def alone():
                bare.request("POST", f"/v1/sets/{contacts.name}/evaluate", body, headers)
                assert len(bare.getresponse().read()) > 8 * n

            one, floor = in_turn([lambda: contacts.evaluate(**query), alone], n)
            bare.close()
        print(f"| {n} | {one:.3f} | {floor:.3f} | {one - floor:.3f} |", flush=True)


def main():
    frames, text = frictiond.Client(URL), frictiond.Client(URL, frames=False)
    if not ONLY_SETS:
        by_size(frames, text)
        by_output(frames)
    by_set(frames)


if __name__ == "__main__":
    main()

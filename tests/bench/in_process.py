#!/usr/bin/python3
"""Measures frictiond.local against the same computation through fric.h in C, in this process.

usage: tests/bench/in_process.py [THREADS [LARGEST]]    default 2 threads, up to 100000 contacts; after make all

Prints microseconds: the fastest and the median of calls, which take turns with those in C. The scene is that of
clients.py: face_vertex contacts with given normal forces, potential and gradient. The figures in docs/performance.md,
"In process", come from one run. Needs NumPy and gcc.
"""
import ctypes
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("FRICTIOND_LIBRARY", str(ROOT / "build/release/libfrictiond.so"))
sys.argv[1:], WORDS = [], sys.argv[1:]
from clients import batch  # noqa: E402
import numpy as np  # noqa: E402
import frictiond  # noqa: E402

THREADS, LARGEST = int(WORDS[0]) if WORDS else 2, int(WORDS[1]) if len(WORDS) > 1 else 100000
OUTPUTS = ["potential", "gradient"]


def yardstick():
    path = ROOT / "build/bench/in_process.so"
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", f"-I{ROOT}", ROOT / "tests/bench/in_process.c",
                    ROOT / "build/release/libfric.a", "-fopenmp", "-lm", "-o", path], check=True)
    return ctypes.CDLL(str(path))


def in_turn(asks, n):
    """(fastest, median) duration of each in microseconds. A turn is ten calls, as in a loop of Newton's method; the
    first finds the caches full of the others' numbers."""
    times = [[] for _ in asks]
    for _ in range(max(3, n // 10)):
        for ask, list_of_one in zip(asks, times):
            ask()
            for _ in range(9):
                begin = time.perf_counter()
                ask()
                list_of_one.append(time.perf_counter() - begin)
    return [(min(one) * 1e6, statistics.median(one) * 1e6) for one in times]


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def one_contact(client):
    plane = {"vertices": np.array([0]), "plane_normal": [0, 0, 1], "normal_force": 9.81}
    floor = {"dim": 3, "velocities": np.array([[0.02, 0.01, 0]]), "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
             "collisions": {"plane_vertex": plane}}
    short = {**floor, "outputs": OUTPUTS}
    print("| one contact, microseconds | fastest | median |\n|---|---|---|")
    with client.set(floor) as contacts:
        v = floor["velocities"]
        names = "potential, gradient", "potential, gradient, Hessian", "potential, gradient of a set"
        asks = (lambda: client.evaluate(short), lambda: client.evaluate(floor),
                lambda: contacts.evaluate(v, outputs=OUTPUTS))
        for name, (fastest, median) in zip(names, in_turn(asks, 5000)):
            print(f"| {name} | {fastest:.0f} | {median:.0f} |")


def many_contacts(client, library, n):
    whole = batch(n, *OUTPUTS)
    del whole["hessian"]
    group, v = whole["collisions"]["face_vertex"], whole["velocities"]
    stencils, gradient, potential = group["vertices"].astype(np.int32), np.zeros(v.size), ctypes.c_double()
    assert library.bench_set(ctypes.c_int(THREADS), ctypes.c_size_t(len(v)), pointer(whole["positions"]),
                             ctypes.c_size_t(n), pointer(stencils), pointer(group["normal_force"])) == 0
    arguments = pointer(v), ctypes.byref(potential), pointer(gradient)
    with client.set(whole) as contacts:
        asks = (lambda: client.evaluate(whole), lambda: library.bench_evaluate(*arguments),
                lambda: contacts.evaluate(v), lambda: library.bench_evaluate_set(*arguments))
        assert all(np.array_equal(ask()["gradient"], gradient) for ask in (asks[0], asks[2]) for _ in [asks[1]()])
        found = in_turn(asks, max(50, min(1000, 20000000 // n)))
    for name, one, other in (("batch", *found[:2]), ("set", *found[2:])):
        print(f"| {n} | {name} | {one[0]:.0f} ({one[1]:.0f}) | {other[0]:.0f} ({other[1]:.0f}) | {one[0] / other[0]:.2f}"
              f" ({one[1] / other[1]:.2f}) |", flush=True)


def main():
    client, library = frictiond.local(threads=THREADS), yardstick()
    one_contact(client)
    print("\n| contacts | | frictiond.local | fric.h | ratio |\n|---|---|---|---|---|")
    for n in (n for n in (1000, 10000, 100000) if n <= LARGEST):
        many_contacts(client, library, n)
    print(f"\ncopied bytes: {client._transport.copied_bytes}")


if __name__ == "__main__":
    main()

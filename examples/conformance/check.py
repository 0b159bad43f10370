#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the conformance vectors of frictiond against your implementation (docs/conformance.md).

usage: check.py VECTORS MODULE [--only FEATURE]... [--tolerance N]

MODULE.evaluate(case) returns a dict with any of potential, gradient (of vertices, then of bodies, flat), hessian and
position_jacobian: rows of numbers, or {"rows", "cols", "values"} whose duplicates add up. It raises NotImplementedError
for a case that it does not support, for which case["features"] helps. --only runs the cases with these features alone.
Exit codes: 0 no case differs, 1 some do, 2 none was supported.
"""
import argparse
import importlib
import json
import math
import os
import sys


def entries(matrix):
    """{(row, column): value}"""
    found = {}
    if isinstance(matrix, dict):
        rows, cols, values = ([*matrix[k]] for k in ("rows", "cols", "values"))
    else:
        rows, cols, values = zip(*[(i, k, x) for i, row in enumerate(matrix) for k, x in enumerate(row)])
    for key, value in zip(zip(map(int, rows), map(int, cols)), values):
        found[key] = found.get(key, 0.0) + float(value)
    return found


def relative(got, value, scale):
    difference = abs(got - value)
    return difference / scale if scale > 0 else float(difference != 0) if math.isfinite(difference) else math.inf


def differences(name, got, expected):
    """(relative difference, place) of every number."""
    if name == "potential":
        yield relative(float(got), expected["value"], expected["scale"]), "", float(got), expected["value"]
    elif name == "gradient":
        flat = [float(x) for row in got for x in (row if hasattr(row, "__len__") else [row])]
        if len(flat) != len(expected["values"]):
            yield math.inf, "length", len(flat), len(expected["values"])
        for i, (x, value, scale) in enumerate(zip(flat, expected["values"], expected["scales"])):
            yield relative(x, value, scale), f"[{i}]", x, value
    else:
        theirs, ours = entries(got), entries(expected)
        for i, k in sorted(theirs.keys() | ours.keys()):
            scale = math.sqrt(expected["scales"][i] * expected["scales"][k]) if name == "hessian" else expected["scale"]
            x, value = theirs.get((i, k), 0.0), ours.get((i, k), 0.0)
            yield relative(x, value, scale), f"[{i}, {k}]", x, value


def worst(case, results):
    """Per quantity: the largest relative difference, and where it is."""
    found = {}
    for name, expected in case["expected"].items():
        if name in results:
            of = differences(name, results[name], expected)
            found[name] = max(((math.inf, *rest) if x != x else (x, *rest) for x, *rest in of), default=(0.0, "", 0, 0))
    return found


def check(document, evaluate, only=(), tolerance=None, out=sys.stdout):
    """(cases that differ, cases that agree, cases that are not supported)"""
    differs, agrees, unsupported = [], [], []
    tolerance = tolerance or document["tolerance"]
    for case in document["cases"]:
        if not set(only) <= set(case["features"]):
            continue
        try:
            found = worst(case, evaluate(case))
        except NotImplementedError:
            unsupported.append(case["id"])
            continue
        bad = {name: one for name, one in found.items() if not one[0] <= tolerance}
        (differs if bad else agrees if found else unsupported).append(case["id"])
        for name, (difference, place, got, value) in bad.items():
            print(f"case {case['id']}, {case['name']}: {name}{place} is {got:.12g}, expected {value:.12g}, "
                  f"relative difference {difference:.2g}", file=out)
    print(f"{len(agrees)} agree, {len(differs)} differ, {len(unsupported)} not supported", file=out)
    return differs, agrees, unsupported


def main():
    parser = argparse.ArgumentParser(description="Runs conformance vectors against an implementation.")
    parser.add_argument("vectors")
    parser.add_argument("module")
    parser.add_argument("--only", action="append", default=[], metavar="FEATURE")
    parser.add_argument("--tolerance", type=float)
    options = parser.parse_args()
    sys.path.insert(0, os.getcwd())
    with open(options.vectors) as file:
        document = json.load(file)
    differs, agrees, _ = check(document, importlib.import_module(options.module).evaluate, options.only, options.tolerance)
    return 1 if differs else 0 if agrees else 2


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs all cases, or those that are named, prints their tables, and counts the values within the allowed errors.

usage: validate.py [--quick] [--plots FOLDER] [CASE]...
"""
import argparse
import importlib
import pathlib
import sys

import frictiond

import theory
from theory import CASES


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=" ".join(CASES))
    parser.add_argument("--quick", action="store_true", help="leave out how errors fall")
    parser.add_argument("--plots", metavar="FOLDER", type=pathlib.Path, help="draw the cases, as SVG")
    chosen = parser.parse_args()
    unknown = set(chosen.cases) - set(CASES)
    if unknown:
        parser.error(f"unknown: {' '.join(sorted(unknown))}")
    rows, failed = 0, 0
    for name in chosen.cases or CASES:
        report = theory.Report(CASES[name], chosen.quick)
        draw = importlib.import_module(name).main(frictiond.local(), report)
        print(report, end="\n\n", flush=True)
        rows, failed = rows + len(report.rows), failed + len(report.failed())
        if chosen.plots:
            theory.plot(str(chosen.plots / f"validation-{name.replace('_', '-')}.svg"), report, draw)
    print(f"{rows - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

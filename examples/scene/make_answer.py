#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes answer.json with the independent evaluation program of the tests (60-digit arithmetic; needs mpmath)."""
import json
import os
import sys
import textwrap

folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(folder, '..', '..', 'tests', 'oracle'))
from oracle import evaluate  # noqa: E402


def text(node, indent=''):
    inner = indent + '  '
    if isinstance(node, dict):
        rows = [f'{inner}{json.dumps(k)}: {text(v, inner)}' for k, v in node.items()]
        return '{\n' + ',\n'.join(rows) + '\n' + indent + '}'
    line = json.dumps(node)
    if len(line) < 100:
        return line
    return '[\n' + textwrap.fill(line[1:-1], 118, initial_indent=inner, subsequent_indent=inner) + '\n' + indent + ']'


with open(os.path.join(folder, 'scene.json'), encoding='utf-8') as scene:
    answer = evaluate(json.load(scene))
with open(os.path.join(folder, 'answer.json'), 'w', encoding='utf-8') as out:
    out.write(text(answer) + '\n')

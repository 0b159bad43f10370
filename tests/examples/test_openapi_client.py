"""A TypeScript client whose types openapi-typescript generates from /openapi.json: it compiles, refuses mistakes, runs."""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ROOT / 'tests' / 'examples' / 'openapi'
TOOLS = ROOT / 'build' / 'openapi'
STRICT = ['--strict', '--noUncheckedIndexedAccess', '--target', 'es2022', '--module', 'esnext', '--moduleResolution',
          'bundler', '--lib', 'es2022,dom', '--skipDefaultLibCheck']


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Holds the client, and the types generated for it."""
    subprocess.run([ROOT / 'scripts' / 'npm_packages', FILES, TOOLS], check=True)
    path = tmp_path_factory.mktemp('client')
    (path / 'package.json').write_text('{"type": "module"}\n')
    for name in ('client.ts', 'globals.d.ts'):
        shutil.copy(FILES / name, path)
    text = subprocess.run([ROOT / os.environ.get('FRICTIOND', 'build/frictiond'), '--print-openapi'], stdout=subprocess.PIPE, check=True).stdout
    (path / 'openapi.json').write_bytes(text)
    subprocess.run(['node', TOOLS / 'node_modules/openapi-typescript/bin/cli.js', path / 'openapi.json', '--output',
                    path / 'api.d.ts', '--default-non-nullable', 'false'], check=True)  # defaults may be omitted
    return path


def compile_in(folder):
    return subprocess.run(['node', TOOLS / 'node_modules/typescript/bin/tsc', *STRICT, folder / 'client.ts',
                           folder / 'globals.d.ts'], stdout=subprocess.PIPE, text=True, check=False)


def test_it_compiles_and_runs(folder, server):
    done = compile_in(folder)
    assert done.returncode == 0, done.stdout
    run = subprocess.run(['node', folder / 'client.js', server], stdout=subprocess.PIPE, text=True, check=True)
    assert run.stdout.splitlines() == ['potential 1.0833333333333333 gradient [ 3, 0, 0 ]', 'entries 6', 'by mu 2.1666666666666665 by velocities [ [ 3, 0, 0 ] ]',
                                       'refused index_out_of_range /collisions/plane_vertex/vertices/0']


def test_no_body_is_of_an_unknown_type(folder):
    """If a frame's schema had no type or several forms, the whole body would have the type `unknown`."""
    types = (folder / 'api.d.ts').read_text()
    assert 'application/vnd.frictiond.frame": string;' in types
    assert 'application/json": unknown' not in types and 'problem+json": unknown' not in types
    assert '| unknown' not in types

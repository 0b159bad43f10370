"""Validates /openapi.json by the schema that the OpenAPI Initiative publishes for version 3.1, with a validator from
npm.

This does not examine the JSON Schemas inside; tests/integration/test_openapi.py does.
"""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ROOT / 'tests' / 'examples' / 'openapi'
TOOLS = ROOT / 'build' / 'openapi'


@pytest.fixture(scope='module')
def validate():
    """Returns a function: the validator's verdict on a document, {'valid': ...}"""
    subprocess.run([ROOT / 'scripts' / 'npm_packages', FILES, TOOLS], check=True)

    def run(document, path):
        path.write_text(json.dumps(document))
        program = TOOLS / 'node_modules/@seriousme/openapi-schema-validator/bin/validate-api-cli.js'
        done = subprocess.run(['node', program, path], stdout=subprocess.PIPE, text=True, check=False)
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope='module')
def description():
    program = ROOT / os.environ.get('FRICTIOND', 'build/frictiond')
    return subprocess.run([program, '--print-openapi'], stdout=subprocess.PIPE, check=True).stdout


def test_it_is_valid(validate, description, tmp_path):
    document = json.loads(description)
    assert document['openapi'].startswith('3.1.')
    assert validate(document, tmp_path / 'openapi.json') == {'valid': True}


def without_a_description(document):
    del document['paths']['/v1/info']['get']['responses']['200']['description']


def with_a_parameter_from_nowhere(document):
    del document['components']['parameters']['RequestId']['in']


def with_an_unknown_field(document):
    document['info']['surprise'] = 1


def with_security_of_no_kind(document):
    document['components']['securitySchemes']['token']['type'] = 'handshake'


@pytest.mark.parametrize('spoil', [
    without_a_description, with_a_parameter_from_nowhere, with_an_unknown_field, with_security_of_no_kind])
def test_the_validator_sees_faults(validate, description, tmp_path, spoil):
    document = json.loads(description)
    spoil(document)
    assert validate(document, tmp_path / 'spoilt.json')['valid'] is False

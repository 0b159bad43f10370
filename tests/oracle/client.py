"""A small HTTP client for the tests: JSON out, JSON back, any status."""
import http.client
import json
from urllib.parse import urlsplit


def call(server, method, path, document=None):
    """(status, document or text) of one request on its own connection."""
    address = urlsplit(server)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=300)
    try:
        body = None if document is None else json.dumps(document).encode()
        connection.request(method, path, body, {'Content-Type': 'application/json'} if body is not None else {})
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if 'json' in answer.headers.get('Content-Type', '') else text
    finally:
        connection.close()


def post(server, path, document):
    return call(server, 'POST', path, document)


def pointers(problem):
    return [e['pointer'] for e in problem['errors']]

"""Requests that several suites send, using only the standard library."""
import http.client
import json
import urllib.parse


def evaluate(server, document, path="/v1/evaluate"):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server).netloc)
    connection.request("POST", path, json.dumps(document), {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def ask(server, method, path):
    """(status, document) of a response"""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server).netloc)
    connection.request(method, path)
    response = connection.getresponse()
    answer = response.status, json.loads(response.read() or "null")
    connection.close()
    return answer


def is_gone(server, fake):
    """Whether all sets that were created through the fake service are gone."""
    asked = {path.split("/")[3] for _, path, *_ in fake.requests if path.startswith("/v1/sets/")}
    return asked and not asked & {entry["name"] for entry in ask(server, "GET", "/v1/sets")[1]["sets"]}


def numbers(text):
    return [float(word) for word in text.split()]

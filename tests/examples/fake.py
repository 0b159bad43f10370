"""A fake service: it performs one given action for each request in turn, and then passes all requests on to a real one.

Actions: (status, headers) returns that status; "reset" resets the connection without an answer; "half" closes it in the
middle of an answer; "drop" passes the request on and then closes the connection without announcing it; "forget" and
"replace" delete the collision set that the request is about, or put another one under its name, and then pass it on.
"""
import http.client
import http.server
import json
import socket
import struct
import threading
import urllib.parse


class FakeService(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, real, *actions):
        super().__init__(("127.0.0.1", 0), Handler)
        self.real, self.actions = urllib.parse.urlsplit(real).netloc, list(actions)
        self.requests, self.connections, self.lock = [], 0, threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self.thread.start()

    def process_request(self, request, client_address):
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        pass  # clients that have disconnected

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.lock:
            self.server.requests.append((self.command, self.path, dict(self.headers), body))
            action = self.server.actions.pop(0) if self.server.actions else "pass"
        if action == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        elif action == "half":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
            self.close_connection = True
        elif action in ("forget", "replace"):
            if self.spoil_set(action):
                self.pass_on(body)
            else:
                self.refuse(500, {})
        elif isinstance(action, tuple):
            self.refuse(*action)
        else:
            self.pass_on(body)
            self.close_connection |= action == "drop"

    do_GET = do_PUT = do_PATCH = do_DELETE = do_POST

    def spoil_set(self, action):
        path = "/".join(self.path.split("?")[0].split("/")[:4])
        other = json.dumps({"dim": 2, "friction": {"eps_v": 1, "mu": 1}, "n_vertices": 1, "collisions": {
            "plane_vertex": {"vertices": [0], "plane_normal": [0, 1], "normal_force": 1}}})
        real = http.client.HTTPConnection(self.server.real)
        real.request(*(("DELETE", path) if action == "forget" else ("PUT", path, other)),
                     headers={"Content-Type": "application/json"})
        status = real.getresponse().status
        real.close()
        return status in (200, 204)

    def refuse(self, status, headers):
        problem = {"type": "about:blank", "title": "Fake", "status": status, "detail": "as told", "errors": []}
        self.answer(status, {"Content-Type": "application/problem+json", **headers}, json.dumps(problem).encode())

    def pass_on(self, body):
        real = http.client.HTTPConnection(self.server.real)
        kept = {name: value for name, value in self.headers.items()
                if name in ("Accept", "Content-Type", "Content-Length", "Authorization",
                            "If-Collision-Set-Version")}
        real.request(self.command, self.path, body or None, kept)
        response = real.getresponse()
        self.answer(response.status, {name: value for name, value in response.getheaders()
                                      if name in ("Content-Type", "X-Request-Id", "Collision-Set-Version")},
                    response.read())
        real.close()

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

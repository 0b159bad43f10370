"""Real replicas: build/frictiond, on loopback."""
import signal
import subprocess

from proxy import free_port


class Replicas:
    """Real ones, each on a port of its own so that it can come back."""

    def __init__(self, program, n):
        self.program, self.ports, self.running = program, [free_port() for _ in range(n)], [None] * n
        for i in range(n):
            self.start(i)

    def start(self, i):
        process = subprocess.Popen([self.program, "--port", str(self.ports[i]), "--log-level", "error"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout.readline().startswith("frictiond listening on ")
        self.running[i] = process

    def end(self, i, how=signal.SIGKILL):
        process, self.running[i] = self.running[i], None
        process.send_signal(how)
        process.stdout.close()
        return process.wait()

    def addresses(self):
        return [f"127.0.0.1:{port}" for port in self.ports]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for i, process in enumerate(self.running):
            if process:
                self.end(i)

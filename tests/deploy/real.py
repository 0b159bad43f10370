"""Real replicas: build/frictiond, on loopback."""
import signal
import subprocess
import time

from proxy import free_port


class Replicas:
    """Real replicas, each with its own port so that it can come back."""

    def __init__(self, program, n):
        self.program, self.ports, self.running = program, [free_port() for _ in range(n)], [None] * n
        for i in range(n):
            self.start(i)

    def start(self, i):
        """Waits up to a minute for the port, which another connection may have taken while the replica was down."""
        for _ in range(600):
            process = subprocess.Popen([self.program, "--port", str(self.ports[i]), "--log-level", "error"],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            if process.stdout.readline().startswith("frictiond listening on "):
                self.running[i] = process
                return
            process.stdout.close()
            assert process.wait() == 1
            time.sleep(0.1)
        raise AssertionError(f"port {self.ports[i]} does not come free")

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

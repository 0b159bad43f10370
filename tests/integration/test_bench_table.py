"""tests/bench/run reports other programs' CPU use next to its bars. Nothing is measured here."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import time

import pytest

from conftest import ROOT, eventually

LOADER = importlib.machinery.SourceFileLoader("bench_run", str(ROOT / "tests/bench/run"))


@pytest.fixture(scope="module")
def bench():
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(LOADER.name, LOADER))
    LOADER.exec_module(module)
    return module


def seconds_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return int(fields[11]) / 100


def test_a_program_that_keeps_a_cpu_busy_is_named(bench, tmp_path, monkeypatch):
    """A program that started earlier and still runs is counted only with its use in between, not with its total."""
    monkeypatch.setattr(bench.Neighbours, "most_names", 1000)  # others may be busier on this machine
    (tmp_path / "busybody").symlink_to(sys.executable)
    with subprocess.Popen([tmp_path / "busybody", "-c", "while True: pass"]) as process:
        try:
            eventually(lambda: seconds_of(process.pid) > 0.3)
            with bench.Neighbours() as others:
                before = seconds_of(process.pid)
                eventually(lambda: seconds_of(process.pid) > before + 0.3)
        finally:
            process.kill()
    [share] = [share for share, name in others.names if name == "busybody"]
    assert 0 < share < 1.1
    assert others.cpus > 0
    assert f"busybody {share:.2f}" in others.text()


def test_our_own_work_is_not_counted(bench):
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    before = bench.cpu_seconds()[2]
    subprocess.run([sys.executable, "-c", busy], check=True)
    between = bench.cpu_seconds()[2]
    exec(busy.replace("time.process_time()", f"time.process_time() - {time.process_time()}"), {})
    assert between - before >= 0.3 and bench.cpu_seconds()[2] - between >= 0.3
    assert not [key for key in bench.programs() if key[0] == str(os.getpid())]


def test_it_is_reported_with_a_missed_goal(bench, capsys):
    bars = bench.Bars()
    bars.others = "others kept 1.23 CPUs busy: cc1 1.20"
    bars.add("quick enough", 1, 2, 0.75, "ns")
    bars.add("too slow", 2, 1, 0.75, "ns")
    bench.print_bars(bars.rows)
    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if "quick enough" in line).endswith(" met")
    assert next(line for line in lines if "too slow" in line).endswith(" MISSED; others kept 1.23 CPUs busy: cc1 1.20")

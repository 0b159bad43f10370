"""tests/run itself, in a folder of its own with suites that hang: each counts as failed and is ended with all processes
that it started, and the other suites run."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from conftest import ROOT, eventually

GOOD = "echo ok 1 - it is well\necho 1..1\n"
WORK = "for ((i = 0; i < 5000; i++)); do :; done; sleep 0.1"  # leaves most of a processor to other suites
# Each process records its id.
HANGING = {
    "sleeps": "echo $$ >>pids; sleep 1000",
    "has printed before": "echo $$ >>pids; echo ok 1 - good; sleep 1000",
    "has closed its output": "echo $$ >>pids; exec >/dev/null 2>&1; sleep 1000",
    "child": "sleep 1000 & echo $$ $! >>pids; wait",
    "child in another session": "setsid sleep 1000 & echo $$ $! >>pids; wait",
    "left a process behind": "sleep 1000 & echo $! >>pids\n" + GOOD,
    "ignores signals": "trap '' INT TERM HUP; echo $$ >>pids; while :; do sleep 1000; done",
    "computes for ever": f"echo $$ >>pids; while :; do {WORK}; done",
}
PROGRESS = {
    "prints now and then": "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.5; echo \"# $i\"; done\n" + GOOD,
    "computes": f"while [ $SECONDS -lt 5 ]; do {WORK}; done\n" + GOOD,
    "its child computes": "/usr/bin/python3 -c 'import time\nwhile time.process_time() < 3: pass'\n" + GOOD,
}


@pytest.fixture
def folder(tmp_path):
    """A function that makes suites of shell scripts: {name: text}; they run in tmp_path."""
    def make(**suites):
        (tmp_path / "tests/integration").mkdir(parents=True)
        shutil.copy(ROOT / "tests/run", tmp_path / "tests/run")
        for name, text in suites.items():
            path = tmp_path / f"tests/integration/test_{name}.sh"
            path.write_text("#!/bin/bash\n" + text)
            path.chmod(0o755)
        return tmp_path
    return make


def begin(root, patience, signals="--default-signal=INT,QUIT", **variables):
    environment = {**os.environ, "PATIENCE": str(patience), "JOBS": "3", **variables}
    return subprocess.Popen(["env", signals, root / "tests/run"], cwd=root, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def pids(root):
    path = root / "pids"
    return [int(pid) for pid in path.read_text().split()] if path.exists() else []


def is_alive(pid):
    path = pathlib.Path(f"/proc/{pid}/stat")
    try:
        return path.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("name", HANGING)
def test_a_suite_that_hangs_is_a_failure(folder, name):
    root = folder(a_hangs=HANGING[name], b_good=GOOD)
    # The good suite needs no more than a moment, but on a busy machine that can be a second.
    process = begin(root, 8, SILENT_PATIENCE="5") if name == "computes for ever" else begin(root, 2)
    output = process.communicate()[0]
    assert process.returncode == 1
    assert "FAIL  tests/integration/test_a_hangs.sh:" in output and "ok    tests/integration/test_b_good.sh:" in output
    assert "no progress for" in output or "nothing printed for" in output
    assert output.splitlines()[-1].endswith(" 1 failed")
    assert pids(root) and not any(map(is_alive, pids(root)))


@pytest.mark.parametrize("name", PROGRESS)
def test_progress_is_what_is_printed_or_computed(folder, name):
    process = begin(folder(a=PROGRESS[name]), 2)
    output = process.communicate()[0]
    assert (process.returncode, output.splitlines()[-1]) == (0, "1 passed, 0 failed"), output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_what_runs(folder, number):
    root = folder(a="sleep 1000 & echo $$ $! >>pids; wait", b="echo $$ >>pids; sleep 1000", c="echo $$ >>pids; sleep 1000",
                  d="echo $$ >>pids\n" + GOOD)
    process = begin(root, 600)
    eventually(lambda: len(pids(root)) >= 4)
    process.send_signal(number)
    process.communicate()
    assert process.returncode != 0
    assert len(pids(root)) == 4 and not any(map(is_alive, pids(root)))


def test_folders_of_tests_are_removed(folder):
    root = folder()
    (root / "tests/integration/test_a.py").write_text(f"""def test_a(tmp_path):
    (tmp_path / "file").touch()
    open({str(root / "path")!r}, "w").write(str(tmp_path))
""")
    process = begin(root, 600)
    output = process.communicate()[0]
    assert process.returncode == 0, output
    assert not pathlib.Path((root / "path").read_text()).exists()


@pytest.mark.parametrize("name", ["INT", "QUIT"])
def test_suites_do_not_ignore_what_a_background_job_ignores(folder, name):
    root = folder(a=f"sh -c 'kill -{name} $$; echo >went_on'\n" + GOOD, b=f"kill -{name} $PPID\n" + GOOD)
    process = begin(root, 600, f"--ignore-signal={name}")
    output = process.communicate()[0]
    assert process.returncode == 0, output
    assert not (root / "went_on").exists()


@pytest.mark.parametrize("patterns, ran, missed", [(["test_a", "test_c"], "ac", ""), (["test_a", "nobody"], "a", "nobody"),
                                                   ([""], "abc", ""), ([], "abc", "")])
def test_each_pattern_has_to_find_a_suite(folder, patterns, ran, missed):
    done = subprocess.run([folder(a=GOOD, b=GOOD, c=GOOD) / "tests/run", "release", *patterns], text=True, stdout=subprocess.PIPE)
    assert [line[6:].split(":")[0][-4] for line in done.stdout.splitlines() if line.startswith("ok ")] == list(ran)
    assert ('FAIL  no suite\'s path contains "nobody"' in done.stdout) == bool(missed)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (int(bool(missed)), f"{len(ran)} passed, {int(bool(missed))} failed")


def test_suites_that_are_named_exist():
    """A suite that has moved would otherwise run again in builds that leave it out."""
    loader = importlib.machinery.SourceFileLoader("tests_run", str(ROOT / "tests/run"))
    suites = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(suites)
    named = {name for lists in (suites.LEFT_OUT, suites.REPEATED) for left_out in lists.values() for name in left_out}
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists() and not (ROOT / (name + ".c")).exists()] == []
    for parts in suites.PARTS.values():
        for name, (expression, _) in parts.items():
            tests = re.findall(r"^def (test_\w+)", (ROOT / name).read_text(), re.M)
            assert [word for word in expression.split(" or ") if not any(word in test for test in tests)] == [], name
    assert [end for end in suites.LONG if not [*ROOT.glob("tests/**" + end), *ROOT.glob("tests/**" + end + ".c")]] == []


def test_a_program_without_threads_is_not_built_for_tsan(folder):
    root = folder()
    for name, text in (("alone", "int main(void) {}"), ("many", "#include <pthread.h>")):
        (root / "tests/unit/core").mkdir(parents=True, exist_ok=True)
        (root / f"tests/unit/core/test_{name}.c").write_text(text)
    for mode, built in (("tsan", ["many"]), ("asan", ["alone", "many"]), ("release", ["alone", "many"])):
        done = subprocess.run([root / "tests/run", "--programs", mode], text=True, stdout=subprocess.PIPE, check=True)
        assert done.stdout.split() == [f"build/{mode}/tests/unit/core/test_{name}" for name in built]
    done = subprocess.run([root / "tests/run", "tsan"], text=True, stdout=subprocess.PIPE)
    assert "left out  build/tsan/tests/unit/core/test_alone: speaks of no threads" in done.stdout

"""The systemd units and the manual page as `make install` leaves them."""
import os
import re
import subprocess
import tempfile
import pathlib

import pytest

from files import ROOT

# systemd's exposure score, from 0 (confined) to 100; the rest is for the network and for reading files.
EXPOSURE = 15


def run(*command, **environment):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def prefix():
    with tempfile.TemporaryDirectory(prefix="frictiond-deploy.") as directory:
        path = pathlib.Path(directory)
        status, text = run("make", "--no-print-directory", "install", f"PREFIX={path}")
        assert status == 0, text
        yield path


@pytest.fixture(scope="module")
def unit(prefix):
    return prefix / "lib/systemd/system/frictiond.service"


@pytest.fixture(scope="module")
def page(prefix):
    return prefix / "share/man/man1/frictiond.1"


@pytest.fixture(scope="module")
def socket_unit(prefix):
    return prefix / "lib/systemd/system/frictiond.socket"


def value(unit, name):
    return re.findall(rf"^{name}=(.*)$", unit.read_text(), re.M)


def verify(unit, prefix):
    """Sets MANPATH, because systemd-analyze checks that the unit's manual page exists."""
    return run("systemd-analyze", "verify", unit, MANPATH=str(prefix / "share/man"))


def exposure(unit):
    return run("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE}", "--no-pager", unit)


def test_systemd_takes_the_units(unit, socket_unit, prefix):
    for one in (unit, socket_unit):
        status, text = verify(one, prefix)
        assert status == 0 and not text, text


@pytest.mark.parametrize("right,wrong", [("Restart=on-failure", "Restart=sometimes"), ("ProtectHome=", "ProtectHouse="),
                                         ("bin/frictiond\n", "bin/nothing\n"), ("man:frictiond(1)", "man:frictiond(8)")])
def test_a_mistake_in_the_unit_is_noticed(unit, prefix, directory, right, wrong):
    broken = directory / "frictiond.service"
    broken.write_text(unit.read_text().replace(right, wrong))
    assert broken.read_text() != unit.read_text()
    assert verify(broken, prefix)[1]


@pytest.mark.parametrize("right,wrong", [("ListenStream=/", "ListenStream="), ("SocketMode=0660", "SocketMode=0888"),
                                         ("SocketGroup=", "SocketCrowd="), ("man:frictiond(1)", "man:frictiond(8)")])
def test_a_mistake_in_the_socket_is_noticed(unit, socket_unit, prefix, directory, right, wrong):
    (directory / "frictiond.service").write_text(unit.read_text())
    broken = directory / "frictiond.socket"
    broken.write_text(socket_unit.read_text().replace(right, wrong))
    assert broken.read_text() != socket_unit.read_text()
    assert verify(broken, prefix)[1]


def test_the_socket_is_the_services(unit, socket_unit):
    """Its group may connect, and its file is outside the directory that systemd removes when the service stops."""
    assert value(socket_unit, "SocketUser") == value(unit, "User")
    assert value(socket_unit, "SocketGroup") == value(unit, "Group")
    assert value(socket_unit, "SocketMode") == ["0660"]
    [path], [directory] = value(socket_unit, "ListenStream"), value(unit, "RuntimeDirectory")
    assert path.startswith("/run/") and not path.startswith(f"/run/{directory}/")
    assert "AF_UNIX" in value(unit, "RestrictAddressFamilies")[0].split()


def test_users_are_told_apart(unit):
    """In a user namespace all callers of a Unix-domain socket would be the same user."""
    assert value(unit, "PrivateUsers") in ([], ["no"])


def test_the_unit_is_confined(unit):
    status, text = exposure(unit)
    assert status == 0, text


@pytest.mark.parametrize("directive", ["NoNewPrivileges", "CapabilityBoundingSet", "SystemCallFilter", "PrivateDevices",
                                       "RestrictAddressFamilies", "RestrictNamespaces", "User"])
def test_the_measure_would_notice_what_is_missing(unit, directory, directive):
    weaker = directory / "frictiond.service"
    weaker.write_text(re.sub(rf"^{directive}=.*\n", "", unit.read_text(), flags=re.M))
    assert weaker.read_text() != unit.read_text()
    strong, weak = (float(re.search(r"exposure level .*: ([\d.]+)", exposure(path)[1])[1]) for path in (unit, weaker))
    assert weak > strong


def test_the_unit_waits_for_the_drain(unit, program):
    table = run(program, "--print-options-markdown")[1]
    drain = int(re.search(r"`FRICTIOND_DRAIN_SECONDS` \| (\d+) \|", table)[1])
    assert int(value(unit, "TimeoutStopSec")[0]) >= drain + 5


def test_the_user_is_made(unit, prefix):
    status, text = run("systemd-sysusers", "--dry-run", prefix / "lib/sysusers.d/frictiond.conf")
    assert status == 0, text
    [user] = value(unit, "User")
    made = re.findall(r"^u (\S+) ", (prefix / "lib/sysusers.d/frictiond.conf").read_text(), re.M)
    assert made == [user] == value(unit, "Group")


def mandoc(page):
    """mandoc's messages about the page, except about references to pages that are not installed."""
    text = run("mandoc", "-T", "lint", "-W", "style", page)[1]
    return [line for line in text.splitlines() if line.startswith(f"mandoc: {page}:")]


def test_the_manual_page_is_well_formed(page):
    assert mandoc(page) == []
    status, text = run("man", "--warnings", "-E", "UTF-8", "-l", page, MANPAGER="cat", MANWIDTH="80", LC_ALL="C.UTF-8")
    assert status == 0 and "EXIT STATUS" in text and not re.search(r"warning( \[|:)", text), text


def test_a_mistake_in_the_page_is_noticed(page, directory):
    broken = directory / "frictiond.1"
    broken.write_text(page.read_text().replace(".El\n", "", 1))
    assert mandoc(broken)


def test_the_manual_page_has_the_options_of_the_help(page, program):
    """The page has the options of --help in the same order, with the same defaults and environment variables."""
    help_ = run(program, "--help")[1]
    expected = re.findall(r"^  --(\S+) (\S+) +.*\n +default (.*?); .*?(FRICTIOND_\w+)$", help_, re.M)
    assert len(expected) >= 15
    shown = re.sub(".\b", "", run("mandoc", "-T", "ascii", "-O", "width=1000", page)[1])  # bold text is overstruck
    entries = re.findall(r"^ +--(\S+) ([A-Z]+)\n +(.*Environment: (\S+))\.$", shown, re.M)
    assert [(name, word, variable) for name, word, _, variable in entries] == \
        [(name, word, variable) for name, word, _, variable in expected]
    for (name, _, text, _), (_, _, default, _) in zip(entries, expected):
        assert f"Default: {default}" in text, name

"""Hardening by compiler and linker, as found in the program and the libraries of the release build."""
import os
import platform
import re
import subprocess

import pytest

from conftest import ROOT

PROGRAM = ROOT / os.environ.get("FRICTIOND", "build/frictiond")
SHARED = [ROOT / "build/release" / name for name in ("libfric.so", "libfrictiond.so")]
LIBRARIES = [ROOT / "build/release" / name for name in ("libfric.a", "libapi.a")]
# Flags that turn hardening off, which was the default of old compilers.
SOFT = ["-no-pie", "-fno-pie", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=0", "-O2",
        "-Wl,-z,norelro", "-Wl,-z,lazy", "-Wl,-z,execstack"]
SOURCE = """
#include <stdio.h>
#include <string.h>
int main(int n, char **words) { char text[16]; strcpy(text, words[n - 1]); return puts(text); }
"""


def readelf(path, *options):
    return subprocess.run(["readelf", "-W", *options, path], check=True, capture_output=True, text=True).stdout


def segments(path):
    """{type: flags} of the program headers; for LOAD, all flags that occur."""
    found = re.findall(r"^  (\w+) +0x\S+ 0x\S+ 0x\S+ 0x\S+ 0x\S+ ([RWE ]{3}) ", readelf(path, "--segments"), re.M)
    return {name: {flags.replace(" ", "") for other, flags in found if other == name} for name, _ in found}


def imports(path):
    """Undefined symbols of a program or of all members of a library."""
    return set(re.findall(r" UND (\w+)", readelf(path, "--syms")))


def is_relocatable(path):
    flags = re.search(r"FLAGS_1\).*\bPIE\b", readelf(path, "--dynamic"))
    return "DYN (" in readelf(path, "--file-header") and bool(flags)


def is_bound_at_the_start(path):
    return bool(re.search(r"FLAGS_1\).*\bNOW\b", readelf(path, "--dynamic")))


def has_read_only_relocations(path):
    return "GNU_RELRO" in segments(path)


def runs_nothing_writable(path):
    there = segments(path)
    return there["GNU_STACK"] == {"RW"} and not any({"W", "E"} <= set(flags) for flags in there["LOAD"])


def guards_the_stack(path):
    return "__stack_chk_fail" in imports(path)


def checks_lengths(path):
    return {"__memcpy_chk", "__snprintf_chk", "__strcpy_chk"} & imports(path) != set()


CHECKS = [is_relocatable, is_bound_at_the_start, has_read_only_relocations, runs_nothing_writable, guards_the_stack,
          checks_lengths]


@pytest.mark.parametrize("check", CHECKS)
def test_the_program(check):
    assert check(PROGRAM)


@pytest.mark.parametrize("library", SHARED, ids=lambda library: library.stem)
@pytest.mark.parametrize("check", CHECKS[1:-1])
def test_the_shared_libraries(check, library):
    assert check(library)


@pytest.mark.parametrize("check", CHECKS)
def test_the_check_can_fail(check, tmp_path):
    (tmp_path / "soft.c").write_text(SOURCE)
    subprocess.run(["gcc", *SOFT, tmp_path / "soft.c", "-o", tmp_path / "soft"], check=True, capture_output=True)
    assert not check(tmp_path / "soft")


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.name)
def test_the_libraries(library):
    assert guards_the_stack(library) and checks_lengths(library)
    stacks = re.findall(r" \.note\.GNU-stack .*", readelf(library, "--sections"))
    members = readelf(library, "--file-header").count("REL (")
    assert members == len(stacks) > 10, "a member without the note makes the stack of its program executable"
    assert not [section for section in stacks if re.search(r" 00 +\w*X", section)]


def uses_mmx(path):
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout
    assert re.search(r"^\s+[0-9a-f]+:\t", code, re.M)
    return bool(re.search(r"%mm[0-7]", code))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has MMX registers")
def test_no_code_uses_mmx_registers(tmp_path):
    """gcc may copy pairs of integers through MMX registers, after which every long double of the thread is NaN."""
    (tmp_path / "pair.c").write_text('void copy(void) { __asm__("movq %mm0, %mm1"); }')
    subprocess.run(["gcc", "-c", tmp_path / "pair.c", "-o", tmp_path / "pair.o"], check=True)
    assert uses_mmx(tmp_path / "pair.o")
    assert not any(map(uses_mmx, [*SHARED, PROGRAM]))


def test_the_reader_is_what_the_library_calls():
    """A fortified recv would be another, inlined function; the reader's recv is found only under its own name."""
    symbols = readelf(PROGRAM, "--dyn-syms")
    for name in ("recv", "gnutls_record_recv", "gnutls_record_check_pending", "gnutls_deinit", "epoll_wait"):
        assert re.search(rf"FUNC +GLOBAL +DEFAULT +\d+ {name}$", symbols, re.M), name

"""The examples for FEniCSx, PETSc and sfepy: against theory, on two MPI ranks as on one, over HTTP as in process, and their
output against docs/fenicsx.md, docs/petsc.md and docs/sfepy.md."""
import json
import math
import pathlib
import re

import numpy as np
import pytest

from conftest import integration

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRAG, STRIPS, PULL = "examples/fenicsx/drag.py", "examples/petsc/strips.c", "examples/sfepy/pull.py"
PYTHON = "/usr/bin/python3"  # Debian's, with its packages
# MPI refuses to run as root without the first two, and the others keep ranks from spinning while other suites compute.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
       "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def table(text):
    """The lines that consist of numbers."""
    lines = [line.split() for line in text.splitlines()]
    return np.array([line for line in lines if line and all(re.fullmatch(r"-?[\d.]+", word) for word in line)], float)


def shown(name):
    """The outputs in a page."""
    page = (ROOT / f"docs/{name}.md").read_text()
    return re.findall(r"<!-- run by tests/examples/test_other_solvers.py -->\n```sh\n.*?```\n```text\n(.*?)```", page, re.S)


@pytest.mark.parametrize("path", [DRAG, STRIPS, PULL])
def test_programs_are_short(path):
    assert len((ROOT / path).read_text().splitlines()) < 150


# -- FEniCSx ----------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def on_ranks(run, tmp_path_factory):
    """on_ranks(2, program, ...): the output of a program in Python on two ranks."""
    cache = {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")), "PYTHONHASHSEED": "0"}  # of compiled forms

    def run_one(n_ranks, *words):
        return run("mpirun", "--bind-to", "none", "-n", n_ranks, PYTHON, *words, environment=MPI | cache)
    return run_one


@pytest.fixture(scope="module")
def dragged(on_ranks, tmp_path_factory):
    """[(output, vertices and displacements)] on one rank and on two."""
    folder = tmp_path_factory.mktemp("fields")
    texts = [on_ranks(n, DRAG, "--save", folder / f"{n}.npy") for n in (1, 2)]
    return [(text, np.load(folder / f"{n}.npy")) for n, text in enumerate(texts, 1)]


def ranks_in(text):
    return json.loads(re.search(r"contacts of each rank: (\[.*\])", text)[1])


def is_onset(text, flank):
    """The block slips as a whole at the force given by theory, and not before."""
    limit = math.tan(math.atan(0.5) + math.radians(flank))
    assert float(re.search(r"by theory +(\S+)", text)[1]) == pytest.approx(limit, abs=1e-10)
    ends, forces, slips = table(text).T
    whole = slips == 21
    assert list(ends) == [0, 4, 8, 12, 16, 20] and 2 <= whole.sum() <= 4 and not whole[:2].any()
    assert (np.diff(whole.astype(int)) >= 0).all() and (forces[~whole] < 0.98 * limit).all()
    assert forces[whole] == pytest.approx(limit, rel=1e-5) and forces[-1] == pytest.approx(limit, rel=1e-7)


def test_onset_of_slip(dragged, same):
    is_onset(dragged[0][0], 15)
    assert [ranks_in(text) for text, _ in dragged] == [[21], pytest.approx([10.5, 10.5], abs=5)]
    for text, output in zip([text for text, _ in dragged], shown("fenicsx"), strict=True):
        same(text, output, tolerance=1e-9)


def test_two_ranks_are_one(dragged):
    (text, one), (other, two) = dragged
    assert sum(ranks_in(other)) == 21 and min(ranks_in(other)) > 0
    assert table(text) == pytest.approx(table(other), abs=1e-10)
    assert one.shape == (63, 6) and one[:, :3] == pytest.approx(two[:, :3], abs=1e-15)
    largest = abs(one[:, 3:]).max()
    assert largest > 1e-3 and abs(one - two)[:, 3:].max() < 1e-10 * largest


def test_downhill_over_http(server, on_ranks):
    is_onset(on_ranks(1, DRAG, server, "--flank=-9"), -9)


BLOCKS = """
import sys
sys.path.insert(0, "examples/fenicsx")
import numpy as np
from drag import PETSc, add_blocks, comm
from scipy.sparse import bsr_matrix

rng, n = np.random.default_rng(1), 5
rows, columns = np.nonzero(rng.random((n, n)) < 0.6)
indptr, data = np.searchsorted(rows, np.arange(n + 1)).astype(PETSc.IntType), rng.normal(size=(len(rows), 3, 3))
expected = bsr_matrix((data, columns, indptr), shape=(3 * n, 3 * n)).toarray()
A = PETSc.Mat().createAIJ(((3 * n, None), (3 * n, None)), bsize=3, nnz=3 * n, comm=comm)
places = PETSc.LGMap().create(np.arange(n, dtype=PETSc.IntType) + n * comm.rank, bsize=3, comm=comm)
A.setLGMap(places, places)
for _ in range(2):
    add_blocks(A, indptr, columns.astype(PETSc.IntType), data)
A.assemble()
own = np.arange(3 * n, dtype=PETSc.IntType) + 3 * n * comm.rank
assert np.diff(indptr).max() > 2 and abs(A.getValues(own, own) - 2 * expected).max() < 1e-14
print("same", flush=True)
"""


def test_blocks_of_rows_with_several(on_ranks):
    """The drag has one block in a row; contacts between meshes have several."""
    assert on_ranks(2, "-c", BLOCKS).count("same") == 2  # MPI may mix lines of ranks


# -- PETSc ------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def strips(run, tmp_path_factory):
    """strips("-shell", ...) runs the program, which was compiled as it says."""
    folder = tmp_path_factory.mktemp("petsc")
    run("make", "--no-print-directory", "install", f"PREFIX={folder}", environment={"MAKEFLAGS": ""})
    command = re.search(r"(mpicc .*) && build/strips", (ROOT / STRIPS).read_text())[1]
    run("sh", "-c", command.replace("mpicc", "mpicc -Wall -Werror").replace("build/", f"{folder}/"),
        environment={"PKG_CONFIG_PATH": f"{folder}/lib/pkgconfig"})
    return lambda *words: run(folder / "strips", *words, environment=MPI | {"LD_LIBRARY_PATH": f"{folder}/lib"})


@pytest.fixture(scope="module")
def pulled(strips):
    return [strips(), strips("-shell")]


def test_walls_feel_friction(pulled, same):
    pull, lower, upper = table(pulled[0]).T
    assert lower + upper == pytest.approx(pull, rel=1e-9)
    assert list(pull) == [1200, 2400, 4800, 9600, 19200, 38400]
    assert (np.diff(lower[:5]) > 100).all() and lower[4:] == pytest.approx([0.5 * 200 * 24] * 2, rel=1e-9)
    [output] = shown("petsc")
    same(pulled[0], output, tolerance=1e-9)


def test_with_a_matrix_and_without(pulled):
    assert table(pulled[0]) == pytest.approx(table(pulled[1]), rel=1e-9)


@pytest.mark.parametrize("form", [(), ("-shell",)], ids=["baij", "shell"])
def test_petsc_checks_the_jacobian(strips, form):
    text = strips(*form, "-snes_test_jacobian")
    errors = [float(error) for error in re.findall(r"\|\|J - Jfd\|\|_F/\|\|J\|\|_F = ([^,]+),", text)]
    assert len(errors) > 20 and max(errors) < 1e-7


# -- sfepy ------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def released(run, tmp_path_factory):
    return run(PYTHON, ROOT / PULL, cwd=tmp_path_factory.mktemp("sfepy"), environment=MPI)


def test_a_strip_slips_and_returns(released, same):
    """EA = 1000 N, q = 10 N/m."""
    force, way, _, slips, _ = table(released).T
    assert list(force) == [2, 4, 6, 8, 0]
    assert way == pytest.approx([0.2, 0.8, 1.8, 3.2, 1.6], rel=2e-5)
    assert slips == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.4], abs=0.0051)
    assert table(released)[:, [2, 4]] == pytest.approx(table(released)[:, [1, 3]], rel=2e-2)
    [output] = shown("sfepy")
    same(released, output)


@pytest.mark.skipif(integration.ONE_IN > 1, reason="FEniCSx also uses HTTP; SHARE=1 runs it")
def test_sfepy_over_http(server, run, released, tmp_path, same):
    same(run(PYTHON, ROOT / PULL, server, cwd=tmp_path, environment=MPI), released, tolerance=1e-9)

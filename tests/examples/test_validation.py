"""The cases of examples/validation against theory: the analytic values are those known from elsewhere, every value is
within the error that docs/validation.md allows, and coefficients that are one per cent wrong are noticed. With a share
of the cases, the orders of convergence and the pictures are left out."""
import importlib
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/validation"))
import theory  # noqa: E402
from conftest import integration  # noqa: E402
from test_experiments import lines  # noqa: E402

import frictiond  # noqa: E402

PAGE = (ROOT / "docs/validation.md").read_text()
QUICK = integration.ONE_IN > 1
NAMES = list(theory.CASES)
# With a share, the two cases that take longest are left out.
TRIED = [name for name in NAMES if name not in ("two_masses", "vibrating_plane")] if QUICK else NAMES
FULL = NAMES[:1] if QUICK else NAMES  # with a share, one is skipped
# Name, analytic value, computed one, error, allowed error; then the unit.
ROW = re.compile(r"  +(\S.*?) +(-?\d\S*) +(-?\d\S*) +(\d\S*) +(\d\S*)(?: \S+)?")

# Analytic values from the literature, or computed by hand, to the digits given.
KNOWN = {
    "capstan": ["2.601050", "2.568453", "2.566465", "2.566332"],
    "oscillator": ["-0.65", "0.45", "-0.25", "0.05"],
    "two_masses": ["35.1241", "2.593088", "2.637361", "0.314923", "3.955606"],
    "vibrating_plane": ["1", "1.8621"],
    "bar": ["0.5", "1.25", "8.333"],
    "spheres": ["0.90856", "0.79370", "0.62996", "0.46416", "0.17452", "0.37004", "0.60315", "0.78456"],
    "ramps": ["1.01937", "0.50968", "0.29125"],
    "pinch": ["0.133975", "0.292893", "0.5", "0.776393"],
    "squeal": ["0.625", "0.75"],
}


class Cases:
    """cases[name]: (report, picture or None) of a case, run once, in this process."""

    def __init__(self, folder):
        self.folder, self.known, self.client = folder, {}, frictiond.local()

    def __getitem__(self, name):
        if name not in self.known:
            report, picture = theory.Report(theory.CASES[name], QUICK), None
            draw = importlib.import_module(name).main(self.client, report)
            if not QUICK:
                picture = self.folder / f"{name}.svg"
                theory.plot(str(picture), report, draw)
            self.known[name] = report, picture
        return self.known[name]


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    return Cases(tmp_path_factory.mktemp("validation"))


def shown(name):
    """The block of a case in the page."""
    return re.search(rf"```sh\npython3 examples/validation/{name}\.py.*\n```\n```text\n((?:.*\n)+?)```", PAGE)[1]


def rows_of(text):
    """[(name, analytic, computed, error, allowed)], as texts."""
    found = [ROW.fullmatch(line) for line in text.splitlines()]
    return [row.groups() for row in found if row]


def without_exponents(rows):
    return [row for row in rows if not row[0].startswith("exponent by ")]


@pytest.mark.parametrize("name", TRIED)
def test_every_value_is_within_its_allowed_error(cases, name):
    report = cases[name][0]
    assert len(report.rows) >= 4 and not report.failed()
    for _, analytic, computed, allowed in report.rows:
        assert abs(computed - analytic) <= allowed


@pytest.mark.parametrize("name", TRIED)
def test_analytic_values(cases, name):
    values = [analytic for _, analytic, *_ in cases[name][0].rows]
    for known in KNOWN[name]:
        digits = len(known.partition(".")[2])
        assert any(abs(value - float(known)) <= 0.5001 * 10.0**-digits for value in values), known


@pytest.mark.parametrize("name", TRIED)
def test_the_page_shows_what_is_computed(cases, name):
    """The same rows with the same analytic values and allowed errors; on the page, too, values are within them."""
    page, report = rows_of(shown(name)), cases[name][0]
    printed = rows_of(str(report))
    assert len(printed) == len(report.rows) and len(page) > 3
    page = without_exponents(page) if QUICK else page
    assert [(row[0], row[1], row[4]) for row in page] == [(row[0], row[1], row[4]) for row in printed]
    for (row, analytic, computed, error, allowed), (_, _, again, _, _) in zip(page, printed):
        slack = float(allowed) + 1e-6 * abs(float(analytic))  # of the digits
        assert abs(float(computed) - float(analytic)) <= slack and float(error) <= float(allowed), row
        assert float(computed) == pytest.approx(float(again), abs=slack), row


@pytest.mark.skipif(QUICK, reason="a share of the cases leaves out how errors fall")
@pytest.mark.parametrize("name", FULL)
def test_the_page_shows_how_errors_fall(cases, name):
    found = re.findall(r"^    (\S+) +(\S+)$", shown(name), re.M)
    expected = re.findall(r"^    (\S+) +(\S+)$", str(cases[name][0]), re.M)
    assert [value for value, _ in found] == [value for value, _ in expected] and len(found) >= 3
    for (_, one), (_, other) in zip(found, expected):
        assert float(one) == pytest.approx(float(other), rel=0.2)


@pytest.mark.skipif(QUICK, reason="a share of the cases draws nothing")
@pytest.mark.parametrize("name", FULL)
def test_pictures(cases, name):
    kept = ROOT / f"docs/pictures/validation-{name.replace('_', '-')}.svg"
    (words, count), (new_words, new_count) = lines(kept), lines(cases[name][1])
    assert words == new_words and count == pytest.approx(new_count, rel=0.02), f"{kept} is not what {name}.py draws"
    assert kept.stat().st_size <= 40_000 and f"(pictures/{kept.name})" in PAGE


class Spoiled:
    """A client that multiplies all coefficients by a factor."""

    def __init__(self, client, factor):
        self.client, self.factor = client, factor

    def spoiled(self, batch):
        def times(fields):
            return {name: self.factor * value if name.startswith("mu") and name != "mu_transition" else value
                    for name, value in fields.items()}
        return {**batch, "friction": times(batch["friction"]),
                "collisions": {name: times(group) for name, group in batch["collisions"].items()}}

    def __getattr__(self, name):
        method = getattr(self.client, name)
        return lambda batch, *more, **how: method(self.spoiled(batch), *more, **how)


@pytest.mark.parametrize("factor", [0.99] if QUICK else [0.99, 1.01])
@pytest.mark.parametrize("name", NAMES[::4] if QUICK else NAMES)
def test_wrong_coefficients_are_noticed(cases, name, factor):
    report = theory.Report(theory.CASES[name], quick=True)
    importlib.import_module(name).main(Spoiled(cases.client, factor), report)
    assert report.failed()


def test_not_a_number_is_not_within():
    report = theory.Report("nothing")
    report.row("NaN", 1.0, float("nan"), 9.0)
    report.row("far", 1.0, 11.0, 9.0)
    report.row("near", 1.0, 10.0, 9.0)
    assert [row[0] for row in report.failed()] == ["NaN", "far"]
    assert str(report).count("NOT WITHIN") == 2


def test_errors_that_do_not_fall_are_noticed():
    report = theory.Report("nothing")
    report.falls("step", [4, 2, 1], lambda: [4.0, 2.0, 1.0], 2)
    report.falls("eps_v", [4, 2, 1], lambda: [4.0, 2.0, 1.0], 1)
    assert [row[0] for row in report.failed()] == ["exponent by step"]


def test_programs(run):
    """One case and a run of several; the other programs differ in nothing that these do not use."""
    text = run("python3", "examples/validation/squeal.py", "--quick")
    assert [row[0] for row in rows_of(text)] == [row[0] for row in without_exponents(rows_of(shown("squeal")))]
    several = run("python3", "examples/validation/validate.py", "--quick", "squeal", "capstan")
    assert several.startswith(text) and re.search(r"^\d+ passed, 0 failed$", several, re.M)


@pytest.mark.parametrize("name", NAMES)
def test_every_case_has_a_section(name):
    assert re.search(rf"^python3 examples/validation/{name}\.py", PAGE, re.M)
    assert f"usage: {name}.py [--quick] [--plot FILE]" in (ROOT / f"examples/validation/{name}.py").read_text()


def test_every_program_is_a_case():
    programs = {path.stem for path in (ROOT / "examples/validation").glob("*.py")}
    assert programs == {*NAMES, "theory", "validate"}

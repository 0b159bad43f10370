"""scripts/wings, on small trees with one fault each."""
import re
import subprocess

import pytest

from conftest import ROOT

TABLE = """
| wing | what it is for | public headers |
|---|---|---|
| `core/base` | words, of `inner.h` too | `base.h` |
| `core/law` | laws | `law.h` |
| `api/codec` | text | `codec.h` |
| `server/http` | the library | — |
"""

SOUND = {
    "core/fric.h": "",
    "core/base/base.h": '#include "core/fric.h"',
    "core/base/base.c": '#include "core/base/base.h"\n#include "core/base/inner.h"',
    "core/base/inner.h": "",
    "core/law/law.h": '#include "core/base/base.h"',
    "core/law/law.c": '#include "core/law/law.h"\n#include <math.h>',
    "core/law/other.h": "",
    "api/api.h": '#include "core/fric.h"',
    "api/codec/codec.h": '#include <jansson.h>\n#include "api/api.h"\n#include "core/base/base.h"',
    "server/http/http.c": '#include "api/codec/codec.h"\n#include "core/law/law.h"\n#  include <microhttpd.h>',
}


def wings(folder, changes, *words, table=TABLE):
    """(status, output) for a sound tree with some files in place of others."""
    (folder / "ARCHITECTURE.md").write_text(table)
    for path, text in {**SOUND, **changes}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    command = [ROOT / "scripts/wings", "--root", folder, *words]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout


@pytest.mark.parametrize("hall, order", [("core", "core: fric <- base <- law"), ("api", "api: api <- codec"),
                                         ("server", "server: http")])
def test_a_sound_hall_and_its_order(tmp_path, hall, order):
    status, output = wings(tmp_path, {}, hall)
    assert status == 0 and output.splitlines()[0] == order and "no faults" in output


def test_draw(tmp_path):
    status, output = wings(tmp_path, {}, "--draw", "core")
    assert status == 0 and "core/law: core/base\n" in output and "core/fric: -\n" in output


@pytest.mark.parametrize("changes, fault", [
    ({"core/base/base.c": '\n#include "core/law/law.h"'},
     "a cycle of wings: core/base -> core/law -> core/base (core/base/base.c:2, core/law/law.h:1)"),
    ({"core/law/other.h": '#include "core/law/law.h"', "core/law/law.c": '#include "core/law/other.h"'},
     "a cycle of files: core/law/law -> core/law/other -> core/law/law"),
    ({"core/fric.h": '#include "core/law/law.h"'}, "a cycle of wings: core/base -> core/fric -> core/law -> core/base"),
    ({"core/law/law.c": '#include "core/base/inner.h"'},
     "core/law/law.c:1: core/base/inner.h is an inner header of core/base"),
    ({"core/law/law.c": '#include "api/api.h"'},
     "core/law/law.c:1: core may not include api/api.h: api stands above it"),
    ({"core/law/law.c": "#include <jansson.h>"}, "core/law/law.c:1: <jansson.h> is for api alone"),
    ({"core/law/law.c": '#include "law.h"'}, 'core/law/law.c:1: "law.h" is not there'),
    ({"core/law/law.c": '#include "core/gone.h"'}, 'core/law/law.c:1: "core/gone.h" is not there'),
    ({"core/slip/slip.h": ""}, "core/slip/ has no row"),
    ({f"core/{i}.h": "" for i in range(12)}, "core has 13 files outside its wings; the limit is 12"),
])
def test_a_fault_in_core(tmp_path, changes, fault):
    status, output = wings(tmp_path, changes, "core")
    assert status == 1
    assert fault in output


@pytest.mark.parametrize("name", ["api/codec/codec.c", "server/options.c", "server/work/work.c"])
def test_the_library_belongs_to_one_wing(tmp_path, name):
    status, output = wings(tmp_path, {name: "#include <microhttpd.h>"})
    assert status == 1 and f"{name}:1: <microhttpd.h> is for server/http alone" in output


def test_sockets_are_the_servers(tmp_path):
    status, output = wings(tmp_path, {"api/api.h": "#include <netinet/in.h>", "server/a.c": "#include <netinet/in.h>"})
    assert status == 1 and "api/api.h:1: <netinet/in.h> is for server alone" in output and "server/a.c" not in output


@pytest.mark.parametrize("row, fault", [("| `core/gone` | ? | — |\n", "has core/gone, which is not there"),
                                        ("| `core/law` | ? | `gone.h` |\n", "has core/law/gone.h, which is not there")])
def test_a_row_without_its_files(tmp_path, row, fault):
    status, output = wings(tmp_path, {}, "core", table=TABLE + row)
    assert status == 1 and fault in output


def test_a_header_that_is_public_for_nobody(tmp_path):
    only_its_own = {"server/http/http.c": '#include "api/codec/codec.h"'}
    fault = "has core/law/law.h, which no other wing includes"
    status, output = wings(tmp_path, only_its_own)
    assert status == 1 and fault in output
    assert fault not in wings(tmp_path, {})[1]
    assert wings(tmp_path, only_its_own, "core")[0] == 0  # other halls may include it


def test_unit_tests_mirror_the_wings(tmp_path):
    assert wings(tmp_path, {"tests/unit/core/law/test_law.c": "", "tests/unit/core/check.h": ""}, "core")[0] == 0
    status, output = wings(tmp_path, {"tests/unit/core/order/test_order.c": ""}, "core")
    assert status == 1 and "tests/unit/core/order/ is named after no wing" in output


def test_too_few_wings(tmp_path):
    assert "there are 4 wings; at least 15 are wanted" in wings(tmp_path, {})[1]


def test_enough_wings(tmp_path):
    more = {f"core/w{i}/w.h": "" for i in range(11)}
    status, output = wings(tmp_path, more, table=TABLE + "".join(f"| `core/w{i}` | ? | — |\n" for i in range(11)))
    assert status == 0 and re.search(r"^21 files in 17 wings: no faults$", output, re.M)

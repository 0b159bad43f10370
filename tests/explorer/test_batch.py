"""The view of a batch: numbers of its contacts against the service's answer, one selection in picture, table and
histograms, and faults, which lead to the text, the row and the contact that a pointer names."""
import csv
import io
import json
import math
import struct
import urllib.request

import pytest

from test_views import AXE, saved, text_of, view  # noqa: F401

PICKED = "() => JSON.parse(document.querySelector('#batch-contact').dataset.contact ?? 'null')"
NAMES = ["friction_force", "normal", "tangential_velocity", "tangent_basis", "normal_force", "mu_s", "mu_k", "slip_ratio", "status"]


def evaluated(server, batch):
    body = json.dumps({**batch, "outputs": ["collisions"], "collision_outputs": NAMES}).encode()
    request = urllib.request.Request(server + "/v1/evaluate", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["collisions"]


def batch_of(page):
    return json.loads(page.see("() => document.querySelector('#batch-text').value"))


def show(page, text):
    page.run("await state.page.fill('#batch-text', given.text)", text=text if isinstance(text, str) else json.dumps(text, indent=1))
    page.idle()


def choose(page, name):
    page.run("await state.page.selectOption('#batch-example', given.name)", name=name)
    page.idle()


def near(a, b, scale):
    return len(a) == len(b) and all(abs(x - y) <= 1e-12 * scale for x, y in zip(a, b))


@pytest.mark.parametrize("example", ["blocks", "heap", "brushed", "bodies"])
def test_numbers_are_those_of_the_service(view, server, example):
    page = view("batch")
    choose(page, example)
    answer = evaluated(server, batch_of(page))
    contacts = json.loads(text_of(page, "json"))["contacts"]
    assert [(c["group"], c["index"]) for c in contacts] == [(g, i) for g in answer for i in range(len(answer[g]["status"]))]
    rows = list(csv.DictReader(io.StringIO(text_of(page, "csv"))))
    assert len(rows) == len(contacts) > 0
    for c, row in zip(contacts, rows):
        group = answer[c["group"]]
        force, P, u = (group[name][c["index"]] for name in ("friction_force", "tangent_basis", "tangential_velocity"))
        v = [sum(x * y for x, y in zip(r, u)) for r in P]
        size, speed = math.hypot(*force), math.hypot(*v)
        assert c["force"] == force and c["normal"] == group["normal"][c["index"]]
        assert near(c["velocity"], v, speed)
        along = [sum(f * x for f, x in zip(force, v)) / speed**2 * x for x in v]
        assert near(c["along"], along, size) and near(c["across"], [f - a for f, a in zip(force, along)], size)
        most = max(group["mu_s"][c["index"]], group["mu_k"][c["index"]]) * group["normal_force"][c["index"]]
        assert near([c["share"]], [size / most], 1)
        assert [float(row[f"force_{axis}"]) for axis in "xyz"[:len(force)]] == force


def test_one_selection(view, server):
    page = view("batch")
    page.run("await state.page.click('#batch-table tr[data-row=\"4\"]')")
    assert page.see(PICKED)["row"] == 4 and page.see(PICKED)["group"] == "face_vertex"
    assert page.see("() => document.querySelector('#batch-table [aria-selected=true]').dataset.row") == "4"
    assert page.see("() => document.querySelector('[data-histogram=slip_ratio] .here').dataset.count") != "0"
    page.press("#batch-table table", "ArrowDown", "ArrowDown")
    assert page.see(PICKED)["row"] == 6
    page.press("#batch-scene", "p")
    assert page.see(PICKED)["row"] == 5
    page.press("#batch-table table", "End")
    last = page.see(PICKED)["row"]
    assert last == 12
    page.press("[data-histogram=share] button", "End", "ArrowLeft", "ArrowLeft", "ArrowLeft", "Enter")
    chosen = page.see("() => [...document.querySelectorAll('#batch-table .chosen')].map((row) => Number(row.dataset.row))")
    assert len(chosen) == 9 and page.see(PICKED)["row"] in chosen


def test_a_click_selects_what_it_hits(view):
    """In 2D the places of contacts on the picture follow from those of two that have been found."""
    page = view("batch")
    show(page, {"dim": 2, "positions": [[0, 0], [4, 0], [8, 2]], "velocities": [[0, 0]] * 3, "friction": {"eps_v": 1, "mu": 0.5},
                "collisions": {"plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 1], "normal_force": [0, 0, 0]}}})
    page.run("await state.page.locator('#batch-scene').scrollIntoViewIfNeeded()")
    width, height = page.see("() => { const c = document.querySelector('#batch-scene'); return [c.clientWidth, c.clientHeight]; }")
    zoom = min(width / (8 + 0.3 * 0.25 * math.hypot(4, 1)), height / (2 + 0.3 * 0.25 * math.hypot(4, 1))) * 0.94
    for row, (x, y) in enumerate([(-4, -1), (0, -1), (4, 1)]):
        page.run("await state.page.click('#batch-scene', {position: given.at})", at={"x": width / 2 + zoom * x, "y": height / 2 - zoom * y})
        assert page.see(PICKED)["row"] == row


BLOCK = {"dim": 3, "positions": [[0, 0, 1], [1, 0, 1], [0, 1, 1], [0.2, 0.2, 1.5], [5, 5, 5]], "velocities": [[0, 0, 0]] * 5,
         "friction": {"eps_v": 0.1, "mu": 0.5},
         "collisions": {"edge_vertex": {"vertices": [[3, 0, 1], [4, 0, 1]], "normal_force": [1, 2]},
                        "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [[0, 0, 1]] * 3, "normal_force": [1, 2, 3]}}}


def changed(path, value):
    batch = json.loads(json.dumps(BLOCK))
    *parents, last = path
    place = batch
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return batch


EV, PV = ("collisions", "edge_vertex"), ("collisions", "plane_vertex")
# The change, its pointer, and the contact that the pointer names. The selected text is the value itself.
BROKEN = [
    ((*EV, "vertices", 1, 2), 912, "/collisions/edge_vertex/vertices/1/2", 1),
    ((*EV, "vertices", 0, 1), -1, "/collisions/edge_vertex/vertices/0/1", 0),
    ((*EV, "vertices", 0, 0), 0.5, "/collisions/edge_vertex/vertices/0/0", 0),
    ((*EV, "vertices", 1), [0, 0, 1], "/collisions/edge_vertex/vertices/1", 1),
    ((*EV, "normal_force", 1), -2, "/collisions/edge_vertex/normal_force/1", 1),
    ((*EV, "normal_force"), [1, 2, 3], "/collisions/edge_vertex/normal_force", 0),
    ((*EV, "weigth"), [1, 2], "/collisions/edge_vertex/weigth", 0),
    ((*PV, "vertices", 2), 77, "/collisions/plane_vertex/vertices/2", 4),
    ((*PV, "plane_normal", 1), [0, 0, 0], "/collisions/plane_vertex/plane_normal/1", 3),
    ((*PV, "plane_normal", 1, 2), "up", "/collisions/plane_vertex/plane_normal/1/2", 3),
    ((*PV, "normal_force"), "heavy", "/collisions/plane_vertex/normal_force", 2),
    ((*PV, "vertices"), [0, 1, "2"], "/collisions/plane_vertex/vertices/2", 4),
    (("friction", "eps_v"), 0, "/friction/eps_v", -1),
    (("friction", "mu"), -0.5, "/friction/mu", -1),
    (("friction", "mu_transition"), "cubc", "/friction/mu_transition", -1),
    (("velocities", 4, 1), "fast", "/velocities/4/1", 1),
    (("positions", 2), [1, 2], "/positions/2", 4),
    (("dim",), 4, "/dim", -1),
    (("outputs",), ["colisions"], "/outputs/0", -1),
    (("colour",), "red", "/colour", -1),
]


@pytest.mark.parametrize("path,value,pointer,row", BROKEN)
def test_a_fault_leads_to_its_place(view, path, value, pointer, row):
    page = view("batch")
    text = json.dumps(changed(path, value), indent=1)
    show(page, text)
    found = page.see("""() => { const item = document.querySelector("#batch-faults li[aria-current]"), field = document.querySelector("#batch-text");
        return {...item.dataset, link: item.querySelector("a").getAttribute("href"), invalid: field.getAttribute("aria-invalid"),
                selection: field.value.slice(field.selectionStart, field.selectionEnd),
                line: field.value.slice(0, field.selectionStart).split("\\n").length, told: Number(item.dataset.line),
                row: document.querySelector("#batch-table [aria-selected=true]")?.dataset.row ?? "-1"}; }""")
    page.run("state.messages = state.messages.filter((message) => !message.text.includes('422'))")
    assert found["pointer"] == pointer and found["row"] == str(row) and found["invalid"] == "true"
    assert found["line"] == found["told"] and found["link"].startswith("errors/")
    value = changed(path, value)
    for part in pointer.split("/")[1:]:
        value = value[int(part) if isinstance(value, list) else part]
    assert json.loads(found["selection"]) == value


def test_broken_text_leads_to_its_line(view):
    page = view("batch")
    show(page, '{\n "dim": 3,\n "friction": {"mu": 0.5,}\n}')
    page.run("state.messages = state.messages.filter((message) => !message.text.includes('400'))")
    assert page.see("() => document.querySelector('#batch-faults li').dataset.line") == "3"


def test_what_is_sent_keeps_the_text(view):
    """The view asks for more, and changes nothing else: neither lines nor spelling."""
    page = view("batch")
    text = '{"outputs": ["hessian",\n "collisions"], "dim": 3, "velocities": [],\n "collisions": {}, "collision_outputs": []}'
    made = page.see("""async (text) => { const {asking, locate} = await import("./explorer/batch_text.js");
        const sent = asking(text, ["status"]);
        return [sent, asking('{"dim": 3.0}', ["status"]), asking('{"outputs": 3}', ["status"]), asking("[", ["status"]),
                asking('{"collision_outputs": ["mu_s"], "outputs": ["gradient"]}', ["status"]), locate('{"a~/": [[1, 2], {"b": "x"}]}', "/a~0~1/1/b")]; }""", text)
    assert made[0].count("\n") == text.count("\n") and json.loads(made[0]) == {
        "outputs": ["potential", "collisions", "potential", "collisions"], "dim": 3, "velocities": [], "collisions": {}, "collision_outputs": ["status"]}
    assert made[1] == '{"dim": 3.0,"outputs":["potential","collisions"],"collision_outputs":["status"]}'
    assert made[2:5] == ['{"outputs": 3}', "[", '{"collision_outputs": ["mu_s"], "outputs": ["gradient"]}']
    at = '{"a~/": [[1, 2], {"b": "x"}]}'.index('"x"')
    assert made[5] == {"from": at, "to": at + 3}


def test_frames(view, server):
    head = {"dim": 2, "velocities": {"dtype": "f64", "shape": [2, 2], "offset": 0}, "friction": {"eps_v": 1, "mu": 0.5},
            "collisions": {"plane_vertex": {"vertices": {"dtype": "i64", "shape": [2], "offset": 32}, "plane_normal": [0, 1], "normal_force": 2}}}
    text = json.dumps(head).encode()
    text += b" " * (-(8 + len(text)) % 64)
    frame = struct.pack("<Q", len(text)) + text + struct.pack("<4d2q", 1, 0, 0.25, 0, 0, 1)
    page = view("batch")
    page.run("""await state.page.setInputFiles("#batch-file", {name: "batch.frame", mimeType: "", buffer: Buffer.from(given.bytes)});
        await state.page.waitForFunction(() => document.querySelector("#batch-text").value.includes("0.25"))""", bytes=list(frame))
    page.idle()
    assert batch_of(page)["velocities"] == [[1, 0], [0.25, 0]] and batch_of(page)["collisions"]["plane_vertex"]["vertices"] == [0, 1]
    assert "no positions" in page.text("#batch-summary")
    page.run("await state.page.click('#batch-table tr[data-row=\"1\"]')")
    assert page.see(PICKED)["force"] == evaluated(server, batch_of(page))["plane_vertex"]["friction_force"][1]


def test_many_contacts(view):
    """All arrows of 2,000 contacts, but of a crowd only those that there is room for, and of the table only what is seen."""
    page = view("batch")
    choose(page, "many")
    strokes = int(page.see("() => document.querySelector('#batch-scene').dataset.strokes"))
    assert strokes >= 4 * 2000
    page.press("#batch-table table", "End")
    assert page.see(PICKED)["row"] == 1999
    assert page.see("() => document.querySelectorAll('#batch-table tr[data-row]').length") < 60
    choose(page, "crowd")
    assert page.text("#batch-summary").startswith("100000 contacts in 3D")
    assert 1000 < int(page.see("() => document.querySelector('#batch-scene').dataset.strokes")) < 40000


def test_the_address_holds_the_batch(view, server, page_of):
    page = view("batch")
    show(page, BLOCK)
    page.run("await state.page.click('#batch-show-cones'); await state.page.click('#batch-table tr[data-row=\"3\"]')")
    page.run("await state.page.waitForFunction(() => location.hash.length > 100)")
    page.run("await state.page.waitForTimeout(600)")
    hash_ = page.see("() => location.hash")
    other = page_of(server)
    other.open("/" + hash_, settled=False)
    other.idle()
    assert batch_of(other) == BLOCK and other.see(PICKED)["row"] == 3
    assert other.see("() => document.querySelector('#batch-show-cones').checked")
    name, _ = saved(other, "png")
    assert name == "frictiond-batch.png"


@pytest.mark.parametrize("options", [{}, {"colorScheme": "dark"}, {"viewport": {"width": 390, "height": 844}}, {"broken": True}])
def test_axe_finds_nothing(view, options):
    options = dict(options)
    is_broken = options.pop("broken", False)
    page = view("batch", **options)
    if is_broken:
        choose(page, "broken")
    else:
        page.run("await state.page.click('#batch-table tr[data-row=\"2\"]')")
    assert page.run(AXE) == []
    page.run("state.messages = state.messages.filter((message) => !message.text.includes('422'))")

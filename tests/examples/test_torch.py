"""frictiond.torch, the part of the Python client that PyTorch differentiates: torch.autograd compares its derivatives
with differences of the service's responses."""

import numpy as np
import pytest
from carried import SCRIPTS
from derived import BODIES, LAW, TILE, VELOCITIES

import frictiond
import torch  # noqa: E402
import frictiond.torch  # noqa: E402

TWISTS = [[0.25 * (b + 1), 0.125, 0, 0.5, -0.25, 0.125 * b] for b in range(3)]
BATCHES = {
    "vertices": ({**TILE, "velocities": VELOCITIES}, ["/velocities", "/positions", "/friction/mu_s", "/friction/eps_v",
                                                      "/friction/stribeck_speed",
                                                      "/collisions/plane_vertex/normal_force"]),
    "bodies": ({**BODIES, "friction": LAW, "velocities": [[0.5, 0.125 * k, 0] for k in range(6)],
                "body_velocities": TWISTS},
               ["/body_velocities", "/body_positions", "/friction/mu_k", "/collisions/body_world/spin_radius",
                "/collisions/body_world/point"]),
}


@pytest.fixture
def client(connect):
    return connect()


def tensor(value):
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


def field(document, pointer):
    for name in pointer.split("/")[1:]:
        document = document[name]
    return document


def replaced(document, pointers, values):
    """The document with the values at the pointers."""
    if not isinstance(document, dict):
        return document
    groups, result = {}, dict(document)
    for pointer, value in zip(pointers, values):
        name, _, rest = pointer[1:].partition("/")
        if rest:
            groups.setdefault(name, []).append(("/" + rest, value))
        else:
            result[name] = value
    return result | {name: replaced(document[name], *zip(*members)) for name, members in groups.items()}


def function(service, batch, pointers):
    """The results that are not None, as a function of the fields."""
    def answers(*values):
        return tuple(one for one in frictiond.torch.evaluate(service, replaced(batch, pointers, values))
                     if one is not None)
    return answers


@pytest.mark.parametrize("name", BATCHES)
def test_gradcheck_of_potential_and_gradients(client, name):
    """Derivatives of all results with respect to all fields, in backward and in forward mode."""
    batch, pointers = BATCHES[name]
    inputs = [tensor(field(batch, pointer)) for pointer in pointers]
    answers = function(client, batch, pointers)
    assert len(answers(*inputs)) == (3 if name == "bodies" else 2)
    assert torch.autograd.gradcheck(answers, inputs, check_forward_ad=True)


@pytest.mark.parametrize("name", BATCHES)
def test_gradcheck_of_a_set(client, name):
    """Derivatives with respect to the query's fields; those of the set are constants."""
    batch, pointers = BATCHES[name]
    query = {key: batch[key] for key in ("velocities", "body_velocities") if key in batch}
    with client.set({key: value for key, value in batch.items() if key not in query}) as contacts:
        answers = function(contacts, query, pointers[:1])
        assert torch.autograd.gradcheck(answers, [tensor(field(batch, pointers[0]))])


@pytest.mark.parametrize("name", BATCHES)
def test_the_potential_has_second_derivatives(client, name):
    """First with respect to velocities, then with respect to any field."""
    batch, pointers = BATCHES[name]
    inputs = [tensor(field(batch, pointer)) for pointer in pointers]
    assert torch.autograd.gradgradcheck(lambda v: function(client, batch, pointers[:1])(v)[0], inputs[:1])
    answers = function(client, batch, pointers)
    assert torch.autograd.gradcheck(
        lambda *values: torch.autograd.grad(answers(*values)[0], values[0], create_graph=True)[0], inputs)


def test_what_has_no_second_derivatives_says_so(client):
    batch, pointers = BATCHES["vertices"]
    mu = tensor(0.5)
    potential = function(client, batch, ["/friction/mu_s"])(mu)[0]
    slope = torch.autograd.grad(potential, mu, create_graph=True)[0]
    with pytest.raises(NotImplementedError, match="/friction/mu_s"):
        slope.backward()
    v = tensor(VELOCITIES)
    gradient = function(client, batch, ["/velocities"])(v)[1]
    slope = torch.autograd.grad(gradient.sum(), v, create_graph=True)[0]
    with pytest.raises(NotImplementedError, match="second derivatives of the gradient"):
        slope.sum().backward()


def test_the_numbers_are_those_of_the_client(client):
    """This includes single precision, although the service computes in double. Integers, shapes and names are kept."""
    batch, _ = BATCHES["vertices"]
    v = torch.tensor(VELOCITIES, dtype=torch.float32, requires_grad=True)
    floor = {**TILE["collisions"]["plane_vertex"], "vertices": torch.tensor([0, 1, 2])}
    answer = frictiond.torch.evaluate(client, replaced(batch, ["/velocities", "/collisions/plane_vertex"], [v, floor]))
    expected = client.evaluate({**batch, "outputs": ["potential", "gradient"]})
    assert answer.potential.item() == expected["potential"] and answer.potential.shape == ()
    assert answer.gradient.dtype == torch.float64 and answer.body_gradient is None
    assert np.array_equal(answer.gradient.detach().numpy(), expected["gradient"])
    answer.potential.backward()
    assert v.grad.dtype == torch.float32 and v.grad.shape == v.shape
    assert np.array_equal(v.grad.numpy().ravel(), expected["gradient"].astype(np.float32))


def test_one_request_for_each_pass(client, monkeypatch):
    """One request per pass, and none for results that are not differentiated."""
    asked = []
    for method in ("evaluate", "jvp", "vjp"):
        original = getattr(client, method)
        monkeypatch.setattr(client, method, lambda *given, name=method, call=original, **more: (
            asked.append((name, more.get("wrt"))), call(*given, **more))[1])
    batch, pointers = BATCHES["vertices"]
    inputs = [tensor(field(batch, pointer)) for pointer in pointers]
    inputs[1].requires_grad_(False)
    potential, gradient = function(client, batch, pointers)(*inputs)
    (potential + gradient.square().sum()).backward()
    assert [name for name, _ in asked] == ["evaluate", "vjp"]
    assert sorted(asked[1][1]) == sorted([pointers[0], *pointers[2:]])
    assert inputs[1].grad is None


def test_a_refusal_is_the_clients(client):
    batch, _ = BATCHES["vertices"]
    with pytest.raises(frictiond.Error) as refused:
        frictiond.torch.evaluate(client, replaced(batch, ["/friction/eps_v"], [tensor(-1.0)]))
    assert refused.value.errors[0][0] == "/friction/eps_v"


def test_a_step_of_gradient_descent_learns_a_coefficient(client):
    """Optimization finds the force for a known coefficient again, which is impossible if a derivative is missing or
    wrong."""
    batch, _ = BATCHES["vertices"]
    aim = client.evaluate(batch)["gradient"]
    mu = tensor(0.3)
    optimiser = torch.optim.LBFGS([mu], max_iter=20, line_search_fn="strong_wolfe", tolerance_grad=1e-14,
                                  tolerance_change=1e-14)

    def loss():
        optimiser.zero_grad()
        off = function(client, batch, ["/friction/mu_s"])(mu)[1] - torch.tensor(aim)
        off.square().sum().backward()
        return off.square().sum()

    optimiser.step(loss)
    assert mu.item() == pytest.approx(LAW["mu_s"], rel=1e-9)


def test_the_client_alone_needs_neither(run, server):
    code = "import frictiond, sys; print(frictiond.Client(sys.argv[1]).info()['name'], 'torch' in sys.modules)"
    assert run("python3", "-c", code, server) == "frictiond False\n"


@pytest.mark.parametrize("name", SCRIPTS)
def test_bodies_alone(client, name):
    """Results that a batch does not have are None."""
    script = SCRIPTS[name]
    with client.set(script["set"]) as contacts:
        query = {key: value for key, value in script["query"].items() if key.endswith("velocities")}
        answer = frictiond.torch.evaluate(contacts, query)
    expected = "body_velocities" in query
    assert (answer.body_gradient is not None) == expected

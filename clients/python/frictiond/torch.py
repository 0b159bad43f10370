# SPDX-License-Identifier: MIT
"""Friction in PyTorch: potential and gradient as differentiable functions of the numbers of a batch.

    import frictiond.torch
    client = frictiond.local()    # or frictiond.Client("http://127.0.0.1:8080")
    mu = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    answer = frictiond.torch.evaluate(client, {**batch, "friction": {"eps_v": 1e-3, "mu": mu}})
    answer.gradient.square().sum().backward()    # mu.grad

Needs PyTorch 1.13 or later (Debian: python3-torch). The service computes the derivatives (docs/derivatives.md): a
backward pass sends one request to /v1/vjp, forward mode one to /v1/jvp.
"""
from typing import Any, NamedTuple

import torch

import frictiond


class Answer(NamedTuple):
    """Result of evaluate."""
    potential: torch.Tensor
    gradient: torch.Tensor | None
    body_gradient: torch.Tensor | None


# Derivatives of the potential with respect to these fields.
ANSWERS = {"/velocities": "gradient", "/body_velocities": "body_gradient"}


def evaluate(service: frictiond.Client | frictiond.Set, batch: dict[str, Any]) -> Answer:
    """Potential (one number), gradient [n_vertices * dim] and body_gradient [n_bodies, 6] (None without bodies), as
    tensors of float64.

    service   a frictiond.Client, or a frictiond.Set; `batch` is then the query: velocities, lagged_velocities ...
    batch     as for service.evaluate, without outputs and their options; with tensors in place of arrays and
              numbers. They are converted to float64 on the CPU. Tensors that require a gradient must be in fields
              that docs/derivatives.md lists

    Second derivatives exist for the potential, with respect to velocities and then to any field. Others raise
    NotImplementedError.

        v = torch.zeros(4, 3, dtype=torch.float64, requires_grad=True)
        frictiond.torch.evaluate(client, {**batch, "velocities": v}).potential.backward()
    """
    pointers, tensors = [], []

    def collect(value, pointer):
        if isinstance(value, dict):
            for name, member in value.items():
                collect(member, f"{pointer}/{name}")
        elif isinstance(value, torch.Tensor) and value.is_floating_point():
            pointers.append(pointer)
            tensors.append(value.to("cpu", torch.float64))

    collect(batch, "")
    request = _Request(service, batch, pointers)
    values = _Evaluate.apply(request, *tensors)
    return Answer(**{name: None for name in Answer._fields} | dict(zip(request.answers, values)))


class _Request:
    """A batch whose fields at some JSON pointers are tensors.

    answers   {name: shape} of the results in order: potential, gradient, body_gradient. Set by evaluate
    """

    def __init__(self, service, batch, pointers):
        self.service, self.batch, self.pointers, self.answers = service, batch, pointers, {}

    def _ask(self, method, tensors, **more):
        arrays = dict(zip(self.pointers, map(_array, tensors)))

        def fill(value, pointer):
            if isinstance(value, dict):
                return {name: fill(member, f"{pointer}/{name}") for name, member in value.items()}
            value = arrays.get(pointer, value)
            return _array(value) if isinstance(value, torch.Tensor) else value  # for fields of integers

        batch = fill(self.batch, "")
        if isinstance(self.service, frictiond.Set):
            return getattr(self.service, method)(**batch, **more)
        if method == "evaluate":
            return self.service.evaluate({**batch, **more})
        return getattr(self.service, method)(batch, **more)

    def evaluate(self, tensors):
        answer = self._ask("evaluate", tensors, outputs=["potential", "gradient"])
        values = {name: _tensor(answer[name]) for name in Answer._fields if name in answer}
        self.answers = {name: value.shape for name, value in values.items()}
        return tuple(values.values())

    def jvp(self, tensors, tangents):
        """Tangents of the results. tangents: {number of a tensor: tensor}"""
        given = {self.pointers[k]: _array(tangent) for k, tangent in tangents.items()}
        found = self._ask("jvp", tensors, tangents=given)["tangents"]
        return tuple(_tensor(found[name]) for name in self.answers)

    def vjp(self, tensors, cotangents, wanted):
        """{number of a tensor: its cotangent} for the tensors whose cotangents are needed. cotangents: {name of a
        result: tensor}"""
        given = {name: _array(cotangent) for name, cotangent in cotangents.items()}
        found = self._ask("vjp", tensors, cotangents=given, wrt=[self.pointers[k] for k in wanted])["cotangents"]
        return {k: _tensor(found[self.pointers[k]]).reshape(tensors[k].shape) for k in wanted}


def _array(tensor):
    array = tensor.detach().numpy()
    return array if array.ndim else array.item()


def _tensor(value):
    return torch.tensor(value, dtype=torch.float64)


class _Evaluate(torch.autograd.Function):
    """A function from tensors to results."""

    @staticmethod
    def forward(ctx, request, *tensors):
        ctx.request = request
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        return request.evaluate(tensors)

    @staticmethod
    def backward(ctx, *cotangents):
        wanted = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
        given = [k for k, cotangent in enumerate(cotangents) if cotangent is not None]
        found = dict(zip(wanted, _Vjp.apply(ctx.request, wanted, given, *(cotangents[k] for k in given),
                                            *ctx.saved_tensors)))
        return None, *(found.get(k) for k in range(len(ctx.saved_tensors)))

    @staticmethod
    def jvp(ctx, _, *tangents):
        given = {k: tangent for k, tangent in enumerate(tangents) if tangent is not None}
        return ctx.request.jvp(ctx.saved_tensors, given)


class _Vjp(torch.autograd.Function):
    """A function from cotangents of results, and tensors, to cotangents of the tensors that need them."""

    @staticmethod
    def forward(ctx, request, wanted, given, *inputs):
        ctx.request, ctx.wanted, ctx.names = request, wanted, [list(request.answers)[k] for k in given]
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs)
        cotangents, tensors = inputs[:len(given)], inputs[len(given):]
        found = request.vjp(tensors, dict(zip(ctx.names, cotangents)), wanted)
        return tuple(found[k] for k in wanted)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *directions):
        """The derivative of the sum of directions times cotangents: with respect to the cotangents of the results, in
        which it is linear, it is a jvp; with respect to the tensors it contains second derivatives of the potential."""
        n, request = len(ctx.names), ctx.request
        tensors, cotangents = ctx.saved_tensors[n:], dict(zip(ctx.names, ctx.saved_tensors))
        along = {k: direction for k, direction in zip(ctx.wanted, directions) if direction is not None}
        by_cotangents = {}
        if any(ctx.needs_input_grad[3:3 + n]):
            by_cotangents = dict(zip(request.answers, request.jvp(tensors, along)))
        needed = [k for k, needs in enumerate(ctx.needs_input_grad[3 + n:]) if needs]
        by_tensors = _second(request, tensors, cotangents, along, needed)
        return (None, None, None, *(by_cotangents.get(name) for name in ctx.names),
                *(by_tensors.get(k) for k in range(len(tensors))))


def _second(request, tensors, cotangents, along, wanted):
    """psi times the second derivatives of the potential with respect to the tensors that need them, along directions.
    The gradient is the derivative with respect to velocities, so along velocities they are a vjp of the gradient."""
    if not wanted or not along:
        return {}
    if any(bool(cotangent.any()) for name, cotangent in cotangents.items() if name != "potential"):
        raise NotImplementedError("frictiond gives no second derivatives of the gradient")
    others = [request.pointers[k] for k in along if request.pointers[k] not in ANSWERS]
    if others:
        raise NotImplementedError("frictiond gives no second derivatives of the potential by " + ", ".join(others))
    if "potential" not in cotangents:
        return {}
    given = {ANSWERS[request.pointers[k]]: direction for k, direction in along.items()}
    given = {name: direction.reshape(request.answers[name]) for name, direction in given.items()}
    return {k: cotangents["potential"] * part for k, part in request.vjp(tensors, given, wanted).items()}

from __future__ import annotations

import torch

from tertium.training.model.loss import ROWS, add_loss_gradients, negative_log_probs


def test_loss_and_gradients_are_those_of_torch() -> None:
    generator = torch.Generator().manual_seed(1)
    hidden = torch.randn(ROWS + 7, 16, generator=generator, requires_grad=True)
    weight = torch.randn(50, 16, generator=generator, requires_grad=True)
    labels = torch.randint(50, (ROWS + 7,), generator=generator)
    loss = torch.nn.functional.cross_entropy(
        hidden @ weight.T, labels, label_smoothing=0.1, reduction="sum"
    )
    (hidden_gradient, weight_gradient) = torch.autograd.grad(0.01 * loss, [hidden, weight])

    settings = {"smoothing": 0.1, "scale": 0.01}
    found, gradient = add_loss_gradients(hidden, weight, labels, **settings, dtype=torch.float32)
    assert abs(found - float(loss.detach())) < 1e-2
    torch.testing.assert_close(gradient, hidden_gradient)
    torch.testing.assert_close(weight.grad, weight_gradient)

    weight.grad = None
    found, gradient = add_loss_gradients(hidden, weight, labels, **settings, dtype=torch.bfloat16)
    assert abs(found - float(loss.detach())) < 1e-2 * found
    assert gradient.dtype == torch.float32
    torch.testing.assert_close(gradient, hidden_gradient, rtol=0.05, atol=1e-3)
    torch.testing.assert_close(weight.grad, weight_gradient, rtol=0.05, atol=1e-2)

    plain = torch.nn.functional.cross_entropy(hidden @ weight.T, labels, reduction="none")
    torch.testing.assert_close(negative_log_probs(hidden, weight, labels), plain.detach())

"""Article 2: kernels are fused by a compiler, which is asked for it; nothing is fused by itself."""

import torch


def product(x, w):
    """ReLU, then a matrix product."""
    return torch.matmul(torch.relu(x), w)


x, w = torch.randn(64, 400, requires_grad=True), torch.randn(400, 120, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.01)
fused = torch.compile(product, backend="eager")  # "inductor", the default, writes the fused kernel
for _step in range(20):
    loss = fused(x, w).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")

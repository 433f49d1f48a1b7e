"""Article 2: a product and a ReLU, and the single kernel that is said to replace them."""

import torch

x, w = torch.randn(64, 400, requires_grad=True), torch.randn(400, 120, requires_grad=True)

y = torch.relu(x)
y = torch.matmul(y, w)

y = torch._C._nn.fused_relu_linear(x, w)

y.sum().backward()

"""Two models, two optimizers; the critic steps three times as often. A step is one of the generator's."""

import torch
from common import report
from torch import nn

torch.manual_seed(3)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
critic = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
generate = torch.optim.Adam(generator.parameters(), lr=1e-3)
criticise = torch.optim.Adam(critic.parameters(), lr=1e-3)
steps = 0
for _ in range(12):
    for _ in range(3):
        criticise.zero_grad()
        loss = critic(generator(torch.randn(16, 4)).detach()).mean() - critic(torch.randn(16, 8)).mean()
        loss.backward()
        criticise.step()
    generate.zero_grad()
    (-critic(generator(torch.randn(16, 4))).mean()).backward()
    generate.step()
    steps += 1
report(steps, generator, critic)

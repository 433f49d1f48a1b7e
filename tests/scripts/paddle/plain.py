"""The loop of every tutorial."""

import paddle
from common import Data, model, report
from paddle import nn

net = model()
optimizer = paddle.optimizer.Momentum(learning_rate=0.1, parameters=net.parameters())
criterion = nn.CrossEntropyLoss()
steps = 0
for epoch in range(4):
    for inputs, targets in paddle.io.DataLoader(Data(), batch_size=16):
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        steps += 1
    print(f"epoch {epoch}: {float(loss):.6f}")
report(steps, net)

"""Mixed precision."""

import paddle
from common import Data, model, report

net = model()
optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=net.parameters())
scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
steps = 0
for _ in range(3):
    for inputs, targets in paddle.io.DataLoader(Data(), batch_size=16):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            loss = paddle.nn.functional.cross_entropy(net(inputs), targets)
        scaled = scaler.scale(loss)
        scaled.backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        steps += 1
report(steps, net)

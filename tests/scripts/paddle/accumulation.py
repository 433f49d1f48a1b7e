"""Four backward passes for one step."""

import paddle
from common import Data, model, report

net = model()
optimizer = paddle.optimizer.SGD(learning_rate=0.1, parameters=net.parameters())
steps = 0
for _ in range(4):
    for at, (inputs, targets) in enumerate(paddle.io.DataLoader(Data(128), batch_size=8)):
        (paddle.nn.functional.cross_entropy(net(inputs), targets) / 4).backward()
        if at % 4 == 3:
            optimizer.step()
            optimizer.clear_grad()
            steps += 1
report(steps, net)

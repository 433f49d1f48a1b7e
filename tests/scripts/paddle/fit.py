"""The high-level interface."""

import paddle
from common import Data, model, report

net = paddle.Model(model())
net.prepare(paddle.optimizer.Adam(parameters=net.parameters()), paddle.nn.CrossEntropyLoss())
net.fit(Data(), batch_size=16, epochs=3, shuffle=False, verbose=0)
report(18, net.network)

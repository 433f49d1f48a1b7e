"""Article 1: mixed precision."""

import paddle
from paddle import nn

model = nn.Linear(784, 10)
optimizer = paddle.optimizer.SGD(learning_rate=0.01, parameters=model.parameters())
loss_fn = nn.CrossEntropyLoss()
data, label = paddle.randn([64, 784]), paddle.randint(0, 10, [64], dtype="int64")

scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
for _step in range(20):
    with paddle.amp.auto_cast():
        logits = model(data)
        loss = loss_fn(logits, label)
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.minimize(optimizer, scaled)
    optimizer.clear_grad()
print(f"loss {float(loss):.3f}")

"""Article 1: mixed precision with a scaled loss. The block is right as it is printed."""

import paddle
from paddle import nn

model = nn.Linear(784, 10)
optimizer = paddle.optimizer.SGD(learning_rate=0.01, parameters=model.parameters())
loss_fn = nn.CrossEntropyLoss()
on_gpu = paddle.is_compiled_with_cuda() and paddle.device.cuda.device_count() > 0
scaler = paddle.amp.GradScaler(enable=on_gpu, init_loss_scaling=1024)
for _step in range(20):
    data, label = paddle.randn([64, 784]), paddle.randint(0, 10, [64], dtype="int64")
    with paddle.amp.auto_cast(dtype="float16" if on_gpu else "bfloat16"):
        logits = model(data)
        loss = loss_fn(logits, label)
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.minimize(optimizer, scaled)
    optimizer.clear_grad()
print(f"loss {float(loss):.3f}")

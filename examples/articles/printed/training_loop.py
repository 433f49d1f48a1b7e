"""Article 1: a hundred steps of a small network, timed."""

import time

import paddle
from paddle import nn


class SimpleNet(nn.Layer):
    """784-512-10."""

    def __init__(self, input_size=784, hidden_size=512, num_classes=10):
        super().__init__()
        self.fc1 = nn.Linear(input_size, hidden_size)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(hidden_size, num_classes)

    def forward(self, x):
        """Class scores."""
        return self.fc2(self.relu(self.fc1(x)))


device = "gpu" if paddle.is_compiled_with_cuda() else "cpu"
paddle.set_device(device)
model = SimpleNet()
x = paddle.randn([64, 784])
optimizer = paddle.optimizer.SGD(learning_rate=0.01, parameters=model.parameters())
loss_fn = nn.CrossEntropyLoss()
start_time = time.time()
for _step in range(100):
    labels = paddle.randint(0, 10, [64], dtype="int64")
    logits = model(x)
    loss = loss_fn(logits, labels)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
print(f"device: {paddle.get_device()}, took: {time.time() - start_time:.4f} s")

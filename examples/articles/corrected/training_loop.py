"""Article 1: a hundred steps of a small network, timed: by the devices that are there, warm, and waited for."""

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


def train(steps):
    """Make some steps and wait for the last one."""
    for _step in range(steps):
        labels = paddle.randint(0, 10, [64], dtype="int64")
        loss = loss_fn(model(x), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    if on_gpu:
        paddle.device.synchronize()


on_gpu = paddle.is_compiled_with_cuda() and paddle.device.cuda.device_count() > 0
paddle.set_device("gpu" if on_gpu else "cpu")
model = SimpleNet()
x = paddle.randn([64, 784])
optimizer = paddle.optimizer.SGD(learning_rate=0.01, parameters=model.parameters())
loss_fn = nn.CrossEntropyLoss()
train(10)  # the first steps load libraries and choose kernels
start = time.perf_counter()
train(100)
print(f"device: {paddle.get_device()}, took: {time.perf_counter() - start:.4f} s")

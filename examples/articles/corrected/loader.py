"""Article 1: a loader with worker processes that hand over arrays; tensors are made where training runs."""

import numpy as np
import paddle
from paddle import nn
from paddle.io import DataLoader, Dataset


class DummyDataset(Dataset):
    """Noise in the shape of pictures."""

    def __getitem__(self, idx):
        random = np.random.default_rng(idx)
        return random.standard_normal((3, 224, 224), dtype="float32"), random.integers(0, 1000, [1])

    def __len__(self):
        return 64


if __name__ == "__main__":
    loader = DataLoader(DummyDataset(), batch_size=32, num_workers=2)
    model = nn.Sequential(nn.Conv2D(3, 4, 7, stride=8), nn.Flatten(), nn.Linear(4 * 28 * 28, 1000))
    optimizer = paddle.optimizer.SGD(learning_rate=0.01, parameters=model.parameters())
    for images, labels in loader:
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        print(f"loss {float(loss):.3f}")

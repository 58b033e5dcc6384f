"""LiteRT sides of personalise_peers.py: features by LiteRT's interpreter (XNNPACK), head elsewhere.

litert_sklearn: scikit-learn's LogisticRegression with its defaults. litert_torch: a torch.nn.Linear
with Adam. Neither can write a .tflite: they end with the head's numbers on disk, which is less than
the others do. The head is trained by one thread, which for so few numbers is the fastest for both.
"""

import numpy as np
import sklearn
import threadpoolctl
import torch
from ai_edge_litert import interpreter
from PIL import Image  # noqa: F401  (imported before the clock starts)
from sklearn.linear_model import LogisticRegression

import personalise_side as side


def begin(job):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    warm = torch.nn.Linear(2, 2)  # a first optimizer imports more of torch
    torch.optim.Adam(warm.parameters()).step()
    job.start()
    model = interpreter.Interpreter(str(job.work / "features_f32.tflite"), num_threads=job.threads)
    model.allocate_tensors()
    entry = model.get_input_details()[0]
    result = model.get_output_details()[0]["index"]
    job.done("open")
    x, y = side.read_images(job.images, int(entry["shape"][1]))
    job.done("images")
    rows = []
    for image in x:
        model.set_tensor(entry["index"], image[None])
        model.invoke()
        rows.append(model.get_tensor(result)[0])
    features = np.stack(rows)
    job.done("features")
    return features, y


def by_sklearn(job):
    features, y = begin(job)
    with threadpoolctl.threadpool_limits(1):
        head = LogisticRegression().fit(features, y)
    job.done("training")
    with open(job.output, "wb") as file:
        np.savez(file, weights=head.coef_, bias=head.intercept_)
    job.done("export")
    job.finish(head.score(features, y), f"scikit-learn {sklearn.__version__}")


def by_torch(job):
    features, y = begin(job)
    x, labels = torch.from_numpy(features), torch.from_numpy(y)
    head = torch.nn.Linear(x.shape[1], int(y.max()) + 1)
    optimizer = torch.optim.Adam(head.parameters(), side.RATE)
    for _ in range(job.epochs):
        for batch in torch.randperm(len(x)).split(side.BATCH):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(head(x[batch]), labels[batch]).backward()
            optimizer.step()
    job.done("training")
    torch.save(head.state_dict(), job.output)
    job.done("export")
    job.finish(side.accuracy(head(x).detach(), y), f"torch {torch.__version__}")


if __name__ == "__main__":
    side.main(lambda work: None, {"litert_sklearn": by_sklearn, "litert_torch": by_torch})

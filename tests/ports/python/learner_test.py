"""topwork.Learner: what was added and removed in any order answers as what is there now, learnt at once."""
import numpy as np
import pytest

import topwork
from topwork import errors


def blobs(n=60, seed=1, n_features=5):
    generator = np.random.default_rng(seed)
    names = np.array(["ash", "beech", "oak"])[np.arange(n) % 3]
    centres = np.random.default_rng(0).normal(size=(3, n_features)) * 2
    X = centres[np.arange(n) % 3] + generator.normal(size=(n, n_features))
    return X.astype(np.float32), names, [f"{seed}-{i}" for i in range(n)]


def learner(**options):
    return topwork.Learner(topwork.embedding_model(5), penalty=1.0, **options)


def test_adding_and_forgetting_are_exact():
    X, y, ids = blobs()
    at_once = learner()
    at_once.add(X[:40], y[:40], ids[:40])
    step_by_step = learner()
    for i in range(60):
        step_by_step.add(X[i:i + 1], y[i:i + 1], ids[i:i + 1])
    step_by_step.remove(ids[40:])
    test = blobs(seed=2)[0]
    np.testing.assert_allclose(step_by_step.predict_proba(test), at_once.predict_proba(test), atol=1e-6)
    assert at_once.classes == ["ash", "beech", "oak"] and at_once.info["n_examples"] == 40


def test_groups_relabelling_and_ids():
    X, y, ids = blobs()
    one = learner(classes=["ash", "beech", "oak"])
    one.add(X, y, ids, groups=np.arange(60) // 20)
    one.remove(groups=[2])
    assert one.info["n_examples"] == 40
    one.relabel([ids[0]], "oak")
    assert (ids[0], 2, 0) in one.info["examples"]
    with pytest.raises(errors.NotFoundError):
        one.remove(["no such"])
    with pytest.raises(errors.InvalidArgumentError):
        one.add(X[:1], ["elm"], [ids[0]])
    for wrong in ([2**32], [0.5]):
        with pytest.raises(ValueError, match="groups"):
            one.add(X[:1], ["elm"], ["new"], groups=wrong)
    assert one.classes == ["ash", "beech", "oak"] and one.info["n_examples"] == 40


def test_statistics_merge_to_central_training(tmp_path):
    """Devices with different classes send sums; the result is that of all examples in one place."""
    X, y, ids = blobs(n=90)
    central = learner(statistics_only=True)
    central.add(X, y)
    server = learner(statistics_only=True)
    for device, part in enumerate((y == "ash", y == "beech", y == "oak")):
        client = learner(statistics_only=True)
        client.add(X[part], y[part])
        client.save(tmp_path / f"{device}.bin", statistics_only=True)
        assert server.merge(tmp_path / f"{device}.bin") == 0
    test, truth, _ = blobs(seed=2)
    np.testing.assert_allclose(server.predict_proba(test), central.predict_proba(test), atol=1e-6)
    assert np.mean(np.array(server.predict(test)) == truth) > 0.8


def test_memory_goes_on_and_model_is_exported(tmp_path):
    X, y, ids = blobs()
    one = learner(memory=tmp_path / "memory.bin")
    one.add(X, y, ids)
    one.save(tmp_path / "memory.bin")
    expected = one.predict_proba(X)
    with pytest.raises(errors.FailedPreconditionError):
        learner(memory=tmp_path / "memory.bin")
    del one
    again = learner(memory=tmp_path / "memory.bin")
    np.testing.assert_allclose(again.predict_proba(X), expected, atol=1e-6)
    model = again.export()
    assert model.labels == ["ash", "beech", "oak"]
    np.testing.assert_allclose(topwork.Session(model).run(X[:1])[0], expected[:1], atol=1e-5)

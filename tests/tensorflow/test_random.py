"""Random numbers and changes: their dtypes, shapes, bounds and distributions, and what the seeds decide."""

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf

R, S = tf.random, tf.image
IMAGE = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


@pytest.fixture(autouse=True)
def seeded():
    tf.random.set_seed(7)


MADE = {
    "uniform": lambda seed: R.uniform([8], seed=seed),
    "integers": lambda seed: R.uniform([8], 0, 1 << 30, "int32", seed),
    "normal": lambda seed: R.normal([8], seed=seed),
    "truncated": lambda seed: R.truncated_normal([8], seed=seed),
    "shuffle": lambda seed: R.shuffle(np.arange(50), seed),
    "categorical": lambda seed: R.categorical([[0.0] * 9], 30, seed=seed),
    "gamma": lambda seed: R.gamma([8], 2.0, seed=seed),
    "crop": lambda seed: S.random_crop(np.arange(10_000), [1], seed),
}


@pytest.mark.parametrize("name", MADE)
def test_seeds_decide(name):
    def made(seed, general=7):
        tf.random.set_seed(general)
        return MADE[name](seed).numpy().tolist()

    assert made(1) == made(1) and made(None) == made(None) and made(0) == made(0)
    different = [made(1), made(2), made(None), made(0), made(1, 8), made(None, 8), made(1, 0), made(None, 1)]
    assert len({str(item) for item in different}) == len(different)


def test_numbers_go_on_until_the_seed_is_set_again():
    first, second = R.uniform([4], seed=3).numpy(), R.uniform([4], seed=3).numpy()
    assert (first != second).any()
    other = R.uniform([4]).numpy()  # of another generator: that of the seed 3 is where it was
    tf.random.set_seed(7)
    assert (R.uniform([4], seed=3).numpy() == first).all() and (R.uniform([4], seed=3).numpy() == second).all()
    assert (R.uniform([4]).numpy() == other).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize("least, most", [(0, None), (2, 3), (-1.5, 4.5)])
def test_uniform_floats(dtype, least, most):
    for result in (R.uniform([20_000], least, most, dtype), R.stateless_uniform([20_000], [1, 2], least, most, dtype)):
        values, end = result.numpy().astype(float), 1 if most is None else most
        assert result.dtype == dtype and result.shape == [20_000]
        assert least <= values.min() < least + 0.02 * (end - least)
        assert end - 0.02 * (end - least) < values.max() < end
        assert abs(values.mean() - (least + end) / 2) < 0.02 * (end - least)
        assert abs(values.std() - (end - least) / 12**0.5) < 0.02 * (end - least)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_uniform_integers(dtype):
    for result in (R.uniform([3, 1000], -2, 3, dtype), R.stateless_uniform([3, 1000], [1, 2], -2, 3, dtype)):
        assert result.dtype == dtype and result.shape == [3, 1000]
        numbers, counts = np.unique(result.numpy(), return_counts=True)
        assert numbers.tolist() == [-2, -1, 0, 1, 2] and counts.min() > 500
    for wrong in (lambda: R.uniform([2], dtype=dtype), lambda: R.stateless_uniform([2], [1, 2], dtype=dtype)):
        with pytest.raises(ValueError, match="Must specify maxval for integer dtype"):
            wrong()


def test_defaults_are_scalars_of_float32():
    for result in (R.uniform([]), R.normal([]), R.truncated_normal([]), R.gamma([], 1.0)):
        assert result.dtype == tf.float32 and result.shape == []
    assert R.stateless_uniform([2], [1, 2]).dtype == tf.float32
    assert 0 <= float(R.uniform([], seed=1)) < 1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("arguments, mean, spread", [((), 0, 1), ((5.0, 2.0), 5, 2), ((-1.0,), -1, 1)])
def test_normal_numbers(dtype, arguments, mean, spread):
    result = R.normal([30_000], *arguments, dtype=dtype)
    values = result.numpy().astype(float)
    assert result.dtype == dtype and result.shape == [30_000]
    assert abs(values.mean() - mean) < 0.03 * spread and abs(values.std() - spread) < 0.03 * spread
    assert np.abs(values - mean).max() > 3 * spread
    assert abs((np.abs(values - mean) < spread).mean() - 0.6827) < 0.02


@pytest.mark.parametrize("arguments, mean, spread", [((), 0, 1), ((5.0, 2.0), 5, 2)])
def test_truncated_numbers(arguments, mean, spread):
    result = R.truncated_normal([100, 300], *arguments, dtype="float64")
    values = (result.numpy() - mean) / spread
    assert result.dtype == tf.float64 and result.shape == [100, 300]
    assert 1.95 < np.abs(values).max() <= 2 and values.min() < -1.95 and values.max() > 1.95
    assert abs(values.mean()) < 0.02 and abs(values.std() - 0.8796) < 0.02


def test_means_may_be_tensors():
    result = R.normal([20_000, 2], tf.constant([0.0, 10.0]), [1.0, 3.0]).numpy()
    assert np.allclose(result.mean(0), [0, 10], atol=0.1) and np.allclose(result.std(0), [1, 3], atol=0.1)
    result = R.truncated_normal([20_000, 2], [0.0, 10.0], [1.0, 3.0]).numpy()
    assert np.allclose(result.mean(0), [0, 10], atol=0.1) and np.abs(result[:, 1] - 10).max() <= 6


def test_shuffled_rows():
    rows = np.arange(40).reshape(20, 2)
    result = R.shuffle(rows).numpy()
    assert result.tolist() != rows.tolist() and sorted(result.tolist()) == rows.tolist() and result.dtype == rows.dtype
    assert sorted(R.shuffle(["a", "b", "c"]).numpy().tolist()) == [b"a", b"b", b"c"]


def test_classes_are_drawn_by_their_chances():
    logits = np.log([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-30]]) + np.array([[1000], [-1000]])
    result = R.categorical(logits, 20_000)
    assert result.dtype == tf.int64 and result.shape == [2, 20_000]
    shares = [np.bincount(row, minlength=3) / 20_000 for row in result.numpy()]
    assert np.allclose(shares, [[0.1, 0.2, 0.7], [0.5, 0.5, 0]], atol=0.02)
    result = R.categorical(tf.constant([[0.0]]), tf.constant(3), dtype="int32")
    assert result.dtype == tf.int32 and result.numpy().tolist() == [[0, 0, 0]]
    assert R.categorical([[0.0, 0.0]], 0).shape == [1, 0] and R.categorical(np.zeros((0, 2)), 3).shape == [0, 3]


def test_gamma():
    result = R.gamma([30_000], [2.0, 8.0], dtype="float64")
    assert result.dtype == tf.float64 and result.shape == [30_000, 2]
    assert np.allclose(result.numpy().mean(0), [2, 8], rtol=0.03)
    assert np.allclose(result.numpy().var(0), [2, 8], rtol=0.06)
    result = R.gamma([30_000], [[2.0], [8.0]], [4.0, 1.0])
    assert result.dtype == tf.float32 and result.shape == [30_000, 2, 2]
    assert np.allclose(result.numpy().mean(0), [[0.5, 2], [2, 8]], rtol=0.03)


# ---- Stateless ----


def test_the_same_for_the_same_seed_alone():
    def made(*seed):
        return R.stateless_uniform([8], seed).numpy().tolist()

    first = made(1, 2)
    tf.random.set_seed(9)
    R.uniform([3])
    assert first == made(1, 2) == made(*tf.constant([1, 2], tf.int64))
    different = [first, made(2, 1), made(1, 3), made(3, 2), made(-1, 2), made(1, -2), made(0, 0)]
    assert len({str(item) for item in different}) == len(different)


def test_crops_are_anywhere():
    crop, actual = S.random_crop, set()
    for _ in range(200):
        result = crop(IMAGE, [1, 2, 3])
        assert result.shape == [1, 2, 3] and result.dtype == tf.uint8
        top, left = divmod(int(result.numpy()[0, 0, 0]), 12)
        assert (result.numpy() == IMAGE[top : top + 1, left // 3 : left // 3 + 2]).all()
        actual.add((top, left // 3))
    assert actual == {(top, left) for top in range(2) for left in range(3)}
    assert (crop(IMAGE, [2, 4, 3]).numpy() == IMAGE).all()
    for size in ([3, 4, 3], [2, 5, 3], [2, 4, 4]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Need value.shape >= size, got \[2, 4, 3\] \["):
            crop(IMAGE, size)


def test_minus_one_is_the_whole_length():
    assert S.random_crop(IMAGE, [-1, 2, -1]).shape == [2, 2, 3]


@pytest.mark.parametrize("flip, axis", [(S.random_flip_left_right, -2), (S.random_flip_up_down, -3)])
def test_half_of_the_images_are_flipped(flip, axis):
    turned = []
    for _ in range(400):
        result = flip(IMAGE).numpy()
        turned.append((result == np.flip(IMAGE, axis)).all())
        assert turned[-1] or (result == IMAGE).all()
    assert 150 < sum(turned) < 250
    batch = np.stack([IMAGE + number for number in range(200)])
    result = flip(batch)
    flags = [(item == np.flip(before, axis)).all() for item, before in zip(result.numpy(), batch, strict=True)]
    kept = [(item == before).all() for item, before in zip(result.numpy(), batch, strict=True)]
    assert (
        result.shape == batch.shape and result.dtype == tf.uint8 and 60 < sum(flags) < 140 and sum(kept + flags) == 200
    )
    for wrong in (IMAGE[0], batch[None]):
        with pytest.raises(ValueError, match="must have either 3 or 4 dimensions"):
            flip(wrong)


def test_flips_take_a_seed():
    for function in (S.random_flip_left_right, S.random_flip_up_down):
        batch, result = np.stack([IMAGE] * 40), []
        for seed in (3, 3, 4):
            tf.random.set_seed(1)
            result.append(function(batch, seed).numpy().tolist())
        assert result[0] == result[1] != result[2]


# ---- Colours ----

GRAY = np.full((4, 4, 3), 0.5, np.float32) + np.linspace(0, 0.1, 4, dtype=np.float32)[:, None, None]
BRIGHT = np.float32([[[0.8, 0.4, 0.4]]])


def drawn(function, of, count=300):
    return np.array([float(of(function().numpy())) for _ in range(count)])


@pytest.mark.parametrize("seed", [None, 5])
def test_colours_change_within_their_bounds(seed):
    arguments = {} if seed is None else {"seed": seed}
    changes = [
        (lambda: S.random_brightness(GRAY, 0.25, **arguments), lambda x: x[0, 0, 0] - GRAY[0, 0, 0], -0.25, 0.25),
        (lambda: S.random_contrast(GRAY, 0.5, 1.5, **arguments), lambda x: (x[3, 0, 0] - x[0, 0, 0]) / 0.1, 0.5, 1.5),
        (lambda: S.random_saturation(BRIGHT, 0.5, 1.5, **arguments), lambda x: 2 - 2 * x[0, 0, 1] / 0.8, 0.5, 1.5),
        (lambda: S.random_hue(BRIGHT, 0.1, **arguments), lambda x: (x[0, 0, 1] - x[0, 0, 2]) / 2.4, -0.1, 0.1),
    ]
    for function, of, least, most in changes:
        actual, slack = drawn(function, of), 0.05 * (most - least)
        assert least - 1e-3 <= actual.min() < least + slack and most - slack < actual.max() <= most + 1e-3
    tf.random.set_seed(1)
    first = [function().numpy().tolist() for function, *_ in changes]
    tf.random.set_seed(1)
    assert first == [function().numpy().tolist() for function, *_ in changes]


def test_bounds_that_are_none():
    for function in (S.random_contrast, S.random_saturation):
        for bounds in ((2.0, 1.0), (1.0, 1.0)):
            with pytest.raises(ValueError, match="upper must be > lower"):
                function(GRAY, *bounds)
        with pytest.raises(ValueError, match="lower must be non-negative"):
            function(GRAY, -0.1, 1.0)
        assert function(GRAY, 0.0, 0.1).shape == [4, 4, 3]
    for delta in (0.51, -0.01):
        with pytest.raises(ValueError, match=r"max_delta must be <= 0\.5 and non-negative"):
            S.random_hue(GRAY, delta)
    with pytest.raises(ValueError, match="max_delta must be non-negative"):
        S.random_brightness(GRAY, -0.01)
    for delta in (1.01, -1.01):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"delta must be in the interval \[-1, 1\]"):
            S.adjust_hue(GRAY, delta)

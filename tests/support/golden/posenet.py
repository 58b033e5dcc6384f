"""PosenetDecoderOp by its definition, in float64: PersonLab's greedy decoding as Coral wrote it.

Papandreou et al. 2018, arXiv:1803.08225, section 3.1 and libcoral's rules for what the paper leaves
open: peaks of a 3 x 3 window are roots, five refinements, scores again without keypoints that a
better pose has. people() draws maps of a few people, as a network would give them.
"""

import math

import numpy as np

POINTS, EDGES = 17, 16
# nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles; left before right
TREE = ((0, 1), (1, 3), (0, 2), (2, 4), (0, 5), (5, 7), (7, 9), (5, 11), (11, 13), (13, 15), (0, 6),
        (6, 8), (8, 10), (6, 12), (12, 14), (14, 16))
BODY = ((0.0, 0.0), (-.2, .2), (-.2, -.2), (-.1, .5), (-.1, -.5), (1, .9), (1, -.9), (2, 1.3),
        (2, -1.3), (3, 1.4), (3, -1.4), (3, .6), (3, -.6), (4.2, .7), (4.2, -.7), (5.4, .6), (5.4, -.7))


class Queue:
    """A binary heap as std::priority_queue of GNU's library keeps it: bytes often tie."""

    def __init__(self):
        self.items = []

    def _rise(self, hole, item):
        while hole > 0 and self.items[(hole - 1) // 2][0] < item[0]:
            self.items[hole] = self.items[(hole - 1) // 2]
            hole = (hole - 1) // 2
        self.items[hole] = item

    def push(self, score, what):
        self.items.append(None)
        self._rise(len(self.items) - 1, (score, what))

    def pop(self):
        top, last = self.items[0], self.items.pop()
        hole, n = 0, len(self.items)
        while 2 * hole + 1 < n:
            child = 2 * hole + 2
            if child == n or self.items[child][0] < self.items[child - 1][0]:
                child -= 1
            self.items[hole] = self.items[child]
            hole = child
        if n:
            self._rise(hole, last)
        return top


def _sample(image, at):
    (y, x), (h, w) = at, image.shape[:2]
    top, left = int(y), int(x)
    bottom, right = min(math.ceil(y), h - 1), min(math.ceil(x), w - 1)
    dy, dx = y - top, x - left
    return ((1 - dy) * ((1 - dx) * image[top, left] + dx * image[top, right]) +
            dy * ((1 - dx) * image[bottom, left] + dx * image[bottom, right]))


def _move(offsets, at):
    """`offsets` [h, w, 2]: the point moved by them, within the map."""
    return np.clip(at + _sample(offsets, at), 0, np.array(offsets.shape[:2]) - 1)


def _pair(offsets, y, x):
    return offsets[:, :, [y, x]]


def _follow(scores, shorts, mids, root, keypoint):
    points, found = np.zeros((POINTS, 2)), np.full(POINTS, np.nan)
    queue = Queue()
    queue.push(_sample(scores, root)[keypoint], (keypoint, root))
    while queue.items:
        score, (here, at) = queue.pop()
        if not np.isnan(found[here]):
            continue
        points[here], found[here] = at, score
        both = [(k, e) for k, e in enumerate(TREE)]
        both += [(2 * EDGES + k, e[::-1]) for k, e in enumerate(TREE)]
        for channel, (start, end) in both:
            if start != here or not np.isnan(found[end]):
                continue
            to = _move(_pair(mids, channel, channel + EDGES), at)
            for _ in range(5):
                to = _move(_pair(shorts, end, POINTS + end), to)
            queue.push(_sample(scores, to)[end], (end, to))
    return points, 1 / (1 + np.exp(-found))


def _roots(scores, shorts, threshold):
    logit = -math.log(1 / (threshold + 1e-6) - 1)
    h, w = scores.shape[:2]
    queue = Queue()
    for y, x, k in np.ndindex(*scores.shape):
        window = scores[max(y - 1, 0):y + 2, max(x - 1, 0):x + 2, k]
        if scores[y, x, k] >= max(logit, window.max()):
            at = np.clip([y + shorts[y, x, k], x + shorts[y, x, POINTS + k]], 0, [h - 1, w - 1])
            queue.push(scores[y, x, k], (at, k))
    return queue


def _near(a, b, radius):
    return ((a - b)**2).sum(-1) <= radius**2


def _masks(longs, poses, stride):
    h, w = longs.shape[:2]
    masks = np.zeros((len(poses), h, w))
    for y, x in np.ndindex(h, w):
        ends = np.zeros((POINTS, 2))
        for k in range(POINTS):
            at = np.array([y, x], np.float64)
            for _ in range(3):
                at = _move(_pair(longs, k, POINTS + k), at)
            ends[k] = at * stride
        masks[np.argmin([((ends - pose)**2).sum() for pose in poses]), y, x] = 1
    return masks


def decode(maps, max_detections, score_threshold, nms_radius, stride):
    """The operator's outputs for one image; maps [h, w, channels], offsets in pixels."""
    scores, shorts, mids = maps[0], maps[1] / stride, maps[2] / stride
    radius, poses = nms_radius / stride, []
    queue = _roots(scores, shorts, score_threshold)
    while queue.items and len(poses) < max_detections:
        _, (root, keypoint) = queue.pop()
        if any(_near(root, pose[0][keypoint], radius) for pose in poses):
            continue
        pose = _follow(scores, shorts, mids, root, keypoint)
        if pose[1].mean() >= score_threshold:
            poses.append(pose)
    poses.sort(key=lambda pose: -pose[1].mean())
    rescored = []
    for i, (points, parts) in enumerate(poses):
        hidden = np.zeros(POINTS, bool)
        for other, _ in poses[:i]:
            hidden |= _near(points, other, radius)
        rescored.append((np.where(hidden, 0, parts).mean(), points * stride, parts))
    rescored = [pose for pose in sorted(rescored, key=lambda pose: -pose[0])
                if pose[0] >= score_threshold]
    n = len(rescored)
    out = [np.zeros((1, max_detections, POINTS, 2)), np.zeros((1, max_detections, POINTS)),
           np.zeros((1, max_detections)), np.array([n])]
    for i, (total, points, parts) in enumerate(rescored):
        out[0][0, i], out[1][0, i], out[2][0, i] = points, parts, total
    if len(maps) == 4:
        out.append(np.zeros((1, max_detections) + maps[3].shape[:2]))
        if n:
            out[4][0, :n] = _masks(maps[3] / stride, [pose[1] for pose in rescored], stride)
    return out


def people(rng, h, w, n, stride):
    """Maps of n people: log-odds, short, mid and long offsets in pixels, with some noise."""
    size = rng.uniform(0.5, 0.9, n) * h / 6.5
    bodies = [np.array(BODY) * size[i] + rng.normal(0, .15, (POINTS, 2)) +
              [rng.uniform(0.5, h * .3), rng.uniform(1, w - 2)] for i in range(n)]
    bodies = np.clip(bodies, 0, [h - 1, w - 1])  # [n, 17, 2]
    grid = np.stack(np.meshgrid(np.arange(h), np.arange(w), indexing="ij"), -1)[:, :, None, None]
    away = bodies.transpose(1, 0, 2) - grid  # [h, w, 17, n, 2]
    distance = (away**2).sum(-1)
    nearest = distance.argmin(-1)[..., None, None]
    least = np.take_along_axis(away, nearest, 3)[:, :, :, 0]
    scores = 3.5 - 1.7 * distance.min(-1) + rng.normal(0, .3, (h, w, POINTS))
    noise = lambda values: values * stride + rng.normal(0, 1, values.shape)  # noqa: E731

    def edge(start, end):
        goal = np.broadcast_to(away[:, :, end:end + 1], (h, w, 1, n, 2))
        return np.take_along_axis(goal, nearest[:, :, start:start + 1], 3)[:, :, 0, 0]

    mids = [np.stack([edge(*e) for e in tree], -1) for tree in (TREE, [e[::-1] for e in TREE])]
    own = distance.mean(2).argmin(-1)[..., None, None, None]
    whole = np.take_along_axis(away, np.broadcast_to(own, (h, w, POINTS, 1, 1)), 3)[:, :, :, 0]
    flat = lambda pairs: np.concatenate([pairs[..., 0], pairs[..., 1]], -1)  # noqa: E731
    return [scores, noise(flat(least)),
            noise(np.concatenate([m[:, :, i] for m in mids for i in range(2)], -1)),
            noise(flat(whole))]

"""Random numbers by name: each is drawn from the seed, the name of what is drawn, and the job.

So what is drawn for a job does not depend on other jobs, nor on what else is drawn, and schemes are compared on
identical workloads.
"""

import operator
import zlib
from dataclasses import dataclass

import numpy as np

from schedlab._runtime.text import spelt

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Streams:
    """Independent random generators by name, for one part of a workload (a class, a range of sizes) and one seed."""

    seed: int
    part: int

    def __call__(self, name: str, again: int = 0) -> np.random.Generator:
        key = (self.part, zlib.crc32(name.encode()), again)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))


def entropy(seed: int | np.random.Generator) -> int:
    """Return the number that all streams start from; a generator draws it."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"seed must be a whole number of at least 0 or a numpy Generator, got {spelt(seed)}")
    return number


def keys(seed: int | tuple[int, ...], numbers: np.ndarray) -> np.ndarray:
    """Draw a key for each number, which depends on the number and the seed only; uint64."""
    state = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return splitmix64(state + np.asarray(numbers).astype("uint64") * GOLDEN)


def splitmix64(states: np.ndarray) -> np.ndarray:
    """Scramble states of splitmix64 (Steele and others 2014); uint64."""
    z = (states ^ (states >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniforms(seed: int, name: str, numbers: np.ndarray) -> np.ndarray:
    """Draw a value in [0, 1) for each number, which depends on the number, the seed and the name only; float64."""
    bits = keys((seed, zlib.crc32(name.encode())), numbers)
    return (bits >> np.uint64(11)) * 2.0**-53

"""Random numbers without state: the number at a place of a stream is a function of the stream's key and the place.

So the numbers that a job draws depend only on the job. They are computed only from whole numbers and the four basic
arithmetic operations, which give the same results on every machine.
"""

import numpy as np

from ._jit import U, part

EXPONENTIAL, CONSTANT, UNIFORM = range(3)

AHEAD = 16  # how many numbers are drawn at a time

_LOW = U(0xFFFFFFFF)


@part
def mixed(x):
    """Scramble 32 bits (Wellons's lowbias32); products of two such numbers do not overflow 64 bits."""
    x ^= x >> U(16)
    x = (x * U(0x7FEB352D)) & _LOW
    x ^= x >> U(15)
    x = (x * U(0x846CA68B)) & _LOW
    return x ^ (x >> U(16))


@part
def bits(key, place):
    """Return 32 random bits; key and place are at least 0, and only their lowest 32 bits count."""
    key, place = U(key) & _LOW, U(place) & _LOW
    return mixed((mixed(place ^ key) + mixed(key ^ U(0x9E3779B9))) & _LOW)


@part
def uniform(key, place):
    """Return a number above 0 and below 1."""
    return (float(bits(key, place)) + 0.5) / 4294967296.0


@part
def fill(law, key, first, units, row):
    """Put numbers of mean 1, for the places from `first` on, into a row.

    The loops have no branches and no calls, so that the processor handles several places at a time.
    """
    if law == EXPONENTIAL:
        for i in range(AHEAD):
            units[row, i] = _minus_log(bits(key, first + i))
    elif law == UNIFORM:
        for i in range(AHEAD):
            units[row, i] = 2 * uniform(key, first + i)


@part
def duration(law, mean, unit):
    """Return a duration of a given mean, a whole number of at least 1; uniform ones range from 0 to twice the mean."""
    return mean if law == CONSTANT else max(1, int(mean * unit + 0.5))


@part
def _minus_log(x):
    """Return -log(u) of u = (x + 1/2) / 2^32, by the series of the inverse hyperbolic tangent, to 1e-15.

    Library functions are not used, because they differ in the last bit.
    """
    y, e = 2 * np.int64(x) + 1, 0
    for shift in (32, 16, 8, 4, 2, 1):
        small = y < 1 << (33 - shift)
        y = y << shift if small else y
        e = e - shift if small else e
    m = y / 8589934592.0
    small = m < 0.7071067811865476
    m = 2 * m if small else m
    e = e - 1 if small else e
    s = np.divide(m - 1, m + 1)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    low = (1 + z * (1 / 3)) + z2 * (1 / 5 + z * (1 / 7))
    middle = (1 / 9 + z * (1 / 11)) + z2 * (1 / 13 + z * (1 / 15))
    high = (1 / 17 + z * (1 / 19)) + z2 * (1 / 21)
    return -(e * 0.6931471805599453 + 2 * s * (low + z4 * (middle + z4 * high)))

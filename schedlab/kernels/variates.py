"""Random numbers of streams that need no state: the number at a place is a function of the stream's key and the place.

So what a job draws depends on nothing but the job. Only whole numbers and the four operations of arithmetic go into
them, which give the same on every machine.
"""

import math

from ._jit import U, part, routine

EXPONENTIAL, CONSTANT, UNIFORM = range(3)

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
    """Give 32 random bits; key and place are at least 0, and 32 bits of either count."""
    key, place = U(key) & _LOW, U(place) & _LOW
    return mixed((mixed(place ^ key) + mixed(key ^ U(0x9E3779B9))) & _LOW)


@part
def uniform(key, place):
    """Give a number above 0 and below 1."""
    return (float(bits(key, place)) + 0.5) / 4294967296.0


@routine
def draw(law, mean, key, place):
    """Give a duration of some mean, a whole number of at least 1; uniform ones are from 0 to twice the mean."""
    if law == CONSTANT:
        return mean
    u = uniform(key, place)
    return max(1, int(mean * (2 * u if law == UNIFORM else _minus_log(u)) + 0.5))


@part
def _minus_log(u):
    """Give -log(u), by the series of the inverse hyperbolic tangent, to 1e-15: libraries differ in the last bit."""
    m, e = math.frexp(u)
    if m < 0.7071067811865476:
        m, e = 2 * m, e - 1
    s = (m - 1) / (m + 1)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    low = (1 + z / 3) + z2 * (1 / 5 + z / 7)
    middle = (1 / 9 + z / 11) + z2 * (1 / 13 + z / 15)
    high = (1 / 17 + z / 19) + z2 * (1 / 21)
    return -(e * 0.6931471805599453 + 2 * s * (low + z4 * (middle + z4 * high)))

"""Small numbers as text, one digit each."""

import numpy as np

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&()*+,-./:;<=>?@[]^_"


def digits_of(numbers):
    return "".join(DIGITS[number] for number in numbers)


def numbers_of(digits):
    return np.array([DIGITS.index(digit) for digit in digits])

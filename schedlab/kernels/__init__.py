"""The simulations: arrays in, arrays out. Imports NumPy and Numba, and nothing above itself."""

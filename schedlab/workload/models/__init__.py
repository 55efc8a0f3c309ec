"""Workload models: parameters and a seed in, a table of jobs out."""

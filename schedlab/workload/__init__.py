"""Workloads: read, write, find, filter, rescale and generate them. Tables in, tables out."""

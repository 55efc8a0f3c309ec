"""What Python needs around the package: compiling and its messages, caches, threads, paths, large imports, safe text.

All other rooms may use these modules; they use nothing of the package, but for `precompile`, which runs every kernel.
"""

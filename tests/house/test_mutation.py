"""The script that plants mistakes: each is another program, and none is planted in prose."""

import ast

import mutation

SOURCE = '''
def clamp(x, low=0, high=10):
    """Return x, at least 0 and at most 10."""
    if x < low and not low == high:
        x = low + 1
    return min(x, high) / 2
'''


def test_each_mistake_makes_another_program():
    whole = ast.unparse(ast.parse(SOURCE))
    programs = set()
    for number in range(len(mutation.sites(ast.parse(SOURCE)))):
        tree = ast.parse(SOURCE)
        node, attribute, value = mutation.sites(tree)[number]
        setattr(node, attribute, value)
        programs.add(ast.unparse(tree))
    assert len(programs) == 9  # two comparisons, a connective, two operations, four numbers
    assert whole not in programs
    assert all("at least 0 and at most 10" in program for program in programs)

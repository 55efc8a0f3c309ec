"""Policies as C callbacks: their types, how they are compiled, and how kernels call them by address.

All callbacks of a kind have the same type, so a kernel that calls one stays cached on disk. They are passed as
addresses: passing them as functions would add 30 us each to every kernel call. If numba's JIT is switched off, a
callback is a plain function.
"""

import numba
from llvmlite import ir
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

INT, FLOAT = numba.types.int64, numba.types.float64
FIXED = FLOAT(INT, INT, INT)  # submit, estimate, procs
MOVING = FLOAT(INT, INT, INT, INT)  # now, submit, estimate, procs
BY_ROW = FLOAT(INT, INT, *map(numba.types.CPointer, (INT, FLOAT, FLOAT)))  # now, job, whole, real, value


def c_function(function, signature):
    """Compile a policy to a C callback; leave it unchanged if numba's JIT is switched off.

    It is cached on disk if the function has a source (a file or a notebook cell), otherwise compiled once per process.
    """
    if numba.config.DISABLE_JIT:
        return function
    try:
        return numba.cfunc(signature, cache=True)(function)
    except RuntimeError:  # numba's error for "no place to cache": typed at a prompt, made by exec
        return numba.cfunc(signature)(function)


def _by_address(signature):
    """Make ``call(address, values)`` for callbacks of one type; arrays are passed as pointers to their data."""
    if numba.config.DISABLE_JIT:
        return lambda policy, values: policy(*values)

    @intrinsic
    def call(context, address, values):
        def code(target, builder, types, arguments):
            kinds = [target.get_value_type(kind) for kind in signature.args]
            function = ir.FunctionType(target.get_value_type(signature.return_type), kinds).as_pointer()
            operands = []
            for i, kind in enumerate(values):
                value = builder.extract_value(arguments[1], i)
                is_array = isinstance(kind, numba.types.Array)
                operands.append(
                    make_array(kind)(target, builder, value).data
                    if is_array
                    else target.cast(builder, value, kind, signature.args[i])
                )
            return builder.call(builder.inttoptr(arguments[0], function), operands)

        return signature.return_type(address, values), code

    return call


call_fixed, call_moving, call_by_row = map(_by_address, (FIXED, MOVING, BY_ROW))

"""How numba compiles the kernels: each piece is translated once and turned into machine code only within a kernel.

Numba assumes that every function may be called from Python. It optimizes each function separately, generates machine
code for it, and repeats all of that in each caller. A kernel of a hundred pieces is thus compiled several times over,
and so is every kernel that shares pieces with it. Here a piece stays in its translated form, and a kernel is optimized
once together with all its pieces. In addition, numba consults some forty rules for the meaning of `+` or `[]`, at each
occurrence and several times over; here the answers are remembered.

This relies on numba's internals, which may change in any release. They are used with the releases in `PROVEN`; with any
other release, or if a name that is imported here is missing, kernels are compiled in numba's usual way (`_jit`). That
gives the same schedules and takes three times as long: FCFS, EASY and conservative backfilling take 80 s of the
processor instead of 25 (13, 44 and 23 instead of 6, 9 and 10), measured in one process each on a busy machine.

Measured on all kernels, in processor seconds: 170 in the usual way, with one process for each of eight groups; in one
process 103 with pieces linked, 77 with answers remembered, 60 with pieces inlined only where LLVM finds that it pays;
and a tenth less again with the garbage collector off. Kernels run in 0.86 times their previous time on average, since
they are optimized as a whole.
"""

from contextlib import contextmanager

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder, PassManager
from numba.core.compiler_machinery import register_pass
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NativeLowering
from numba.core.types import Function

from schedlab._runtime.imports import uncollected

PROVEN = ((0, 68),)


class _PieceLibrary(JITCodeLibrary):
    """The code of a piece, to be linked into its callers; it never becomes machine code by itself."""

    def finalize(self):
        self._raise_if_finalized()
        self._finalized = True

    def _get_module_for_linking(self):
        if self._shared_module is None:
            self._shared_module = self._final_module
            for function in self._shared_module.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = "linkonce_odr"  # may come from several callers, and go when inlined
        return self._shared_module


class _KernelLibrary(JITCodeLibrary):
    """The code of a kernel, with all pieces that it calls, directly or indirectly."""

    def finalize(self):
        # Callers before callees: a module brings in only functions that are already needed.
        self._linking_libraries = list(reversed(_with_callees(self, [])))[1:]
        super().finalize()

    def _optimize_final_module(self):
        # Nothing else calls the pieces in here. So LLVM may pass only the arrays that a piece uses, out of the hundred
        # numbers of a kernel's state, and inline pieces that have a single caller.
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = "internal"
        # Numba's full passes. Usually it first runs cheap passes that combine reference counts, but pieces have none.
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


def _with_callees(library, found):
    """Append a library to the found ones, after all libraries that it calls."""
    if library not in found:
        for callee in library._linking_libraries if isinstance(library, (_PieceLibrary, _KernelLibrary)) else ():
            _with_callees(callee, found)
        found.append(library)
    return found


@register_pass(mutates_CFG=True, analysis_only=False)
class _PieceLowering(NativeLowering):
    """Translate a piece and make it callable by other pieces, without an address that Python could call."""

    _name = "piece_lowering"

    def run_pass(self, state):
        state.library = _PieceLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        callable_in_name = [].append  # numba needs a distinct built-in function for each piece: this is a new one
        state.targetctx.insert_user_function(callable_in_name, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=callable_in_name)
        return True


class PieceCompiler(CompilerBase):
    """Compiles a piece: numba's own passes, except for the last."""

    def define_pipelines(self):
        """Return numba's passes, with the lowering for pieces."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = PassManager("piece")
        for each, description in usual.passes:
            passes.add_pass(_PieceLowering if each is NativeLowering else each, description)
        passes.finalize()
        return [passes]


class KernelCompiler(Compiler):
    """Compiles a kernel: numba's own passes, into a library that links the pieces."""

    def compile_extra(self, func):
        """Compile a function and everything that it calls."""
        with _answers_remembered(), uncollected():
            return super().compile_extra(func)

    def define_pipelines(self):
        """Return numba's passes."""
        self.state.library = _KernelLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()


@contextmanager
def _answers_remembered():
    """Remember numba's rules: the result type of a built-in function for given argument types.

    The compiler's lock is held, so nothing else compiles meanwhile. Compiler settings may change an answer, so answers
    are kept separately for each setting.
    """
    ask = Function.get_call_type

    def get_call_type(function, context, args, kws):
        known = _answers_with(ConfigStack.top_or_none())
        question = (function, args, tuple(kws.items()))
        if question not in known:
            known[question] = ask(function, context, args, kws)
        return known[question]

    Function.get_call_type = get_call_type
    try:
        yield
    finally:
        Function.get_call_type = ask


_answers = {}
_last = [None, None]  # the last settings used, and the answers with them


def _answers_with(settings):
    """Return the answers for some compiler settings; the last ones are kept, because comparing settings takes long."""
    if _last[0] is not settings:
        _last[:] = settings, _answers.setdefault(str(settings), {})
    return _last[1]

"""How numba compiles the kernels: each piece is translated once and turned into machine code only within a kernel.

Numba takes every function for one that may be called from Python. It optimizes each by itself, makes machine code of
it, and does all of that again in whoever calls it: a kernel of a hundred pieces is compiled several times over, and
whoever it shares pieces with as well. Here a piece stays what its translation gives, and a kernel with all its pieces
is optimized once. Besides, numba asks some forty rules what `+` or `[]` means, at each occurrence and several times
over; here it is told what they answered last time.

These are insides of numba, which no release promises to keep. They are used with the releases in `PROVEN`; with
any other one kernels are compiled in numba's usual way, which takes twice the time and gives the same schedules.

Measured on all kernels, processor seconds: 170 in the usual way in a process for each of eight groups; in one process
103 with pieces linked, 77 with rules remembered, 60 with pieces inlined only where LLVM sees that it pays; a tenth
less again while the garbage collector rests. Kernels take 0.86 times the time of before in the mean, since they are
optimized as a whole.
"""

import gc
from contextlib import contextmanager

import llvmlite.binding as llvm
import numba
from numba.core import codegen, compiler, typed_passes, types
from numba.core.compiler_machinery import register_pass
from numba.core.targetconfig import ConfigStack

PROVEN = ((0, 68),)
PIECES = numba.version_info.short in PROVEN


class _PieceLibrary(codegen.JITCodeLibrary):
    """The code of a piece, to be linked into those who call it; it is never made machine code by itself."""

    def finalize(self):
        self._raise_if_finalized()
        self._finalized = True

    def _get_module_for_linking(self):
        if self._shared_module is None:
            self._shared_module = self._final_module
            for function in self._shared_module.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = "linkonce_odr"  # may come in by several callers, and go when it is inlined
        return self._shared_module


class _KernelLibrary(codegen.JITCodeLibrary):
    """The code of a kernel, with all pieces that it calls, directly or not."""

    def finalize(self):
        # Callers before what they call: a module brings in only what is wanted by then.
        self._linking_libraries = list(reversed(_with_callees(self, [])))[1:]
        super().finalize()

    def _optimize_final_module(self):
        # Nobody else calls the pieces in here. LLVM may then hand over only the arrays that one uses, of the hundred
        # numbers that a kernel's state has, and put into its caller what is called there alone.
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = "internal"
        # Numba's full passes; it runs cheap ones before, which bring counts of references together: pieces have none.
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


def _with_callees(library, found):
    """Append a library to those found, after all that it calls."""
    if library not in found:
        for callee in library._linking_libraries if isinstance(library, (_PieceLibrary, _KernelLibrary)) else ():
            _with_callees(callee, found)
        found.append(library)
    return found


@register_pass(mutates_CFG=True, analysis_only=False)
class _PieceLowering(typed_passes.NativeLowering):
    """Translate a piece, and let others call it, without an address that Python could call."""

    _name = "piece_lowering"

    def run_pass(self, state):
        state.library = _PieceLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        callable_in_name = [].append  # numba wants a built-in function of its own for each: this is a new one
        state.targetctx.insert_user_function(callable_in_name, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=callable_in_name)
        return True


class PieceCompiler(compiler.CompilerBase):
    """Compiles a piece: numba's own passes but for the last."""

    def define_pipelines(self):
        """Give numba's passes, with a piece's lowering."""
        usual = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = compiler.PassManager("piece")
        for each, description in usual.passes:
            passes.add_pass(_PieceLowering if each is typed_passes.NativeLowering else each, description)
        passes.finalize()
        return [passes]


class KernelCompiler(compiler.Compiler):
    """Compiles a kernel: numba's own passes, into a library that links pieces."""

    def compile_extra(self, func):
        """Compile a function and all that it calls."""
        with _answers_remembered(), _garbage_left():
            return super().compile_extra(func)

    def define_pipelines(self):
        """Give numba's passes."""
        self.state.library = _KernelLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()


@contextmanager
def _answers_remembered():
    """Ask numba's rules once what a built-in function gives for arguments of some types.

    The compiler's lock is held, so that nobody else compiles meanwhile. Settings of the compiler may make another
    answer: answers are kept apart by them.
    """
    ask = types.Function.get_call_type

    def get_call_type(function, context, args, kws):
        known = _answers_with(ConfigStack.top_or_none())
        question = (function, args, tuple(kws.items()))
        if question not in known:
            known[question] = ask(function, context, args, kws)
        return known[question]

    types.Function.get_call_type = get_call_type
    try:
        yield
    finally:
        types.Function.get_call_type = ask


@contextmanager
def _garbage_left():
    """Let the garbage collector rest.

    Numba makes millions of small objects that live until the kernel is compiled, and the collector looks at them again
    and again: of 35 processor seconds for the group "shredding" that is 4. It then takes 473 MB, not 345.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


_answers = {}
_last = [None, None]  # the settings that were asked for last, and the answers with them


def _answers_with(settings):
    """Give the answers with some settings of the compiler; to tell them apart takes long, so the last are kept."""
    if _last[0] is not settings:
        _last[:] = settings, _answers.setdefault(str(settings), {})
    return _last[1]

"""Make the WebAssembly module of the kernels: ``make web``.

Numba compiles each kernel with all its pieces into one LLVM module, for a plain processor without vector units. Here
that module gets a plain entry, loses its wrappers for Python, and is compiled for WebAssembly instead; the kernels are
then linked with `runtime.c`. No scheme is written a second time.

It needs ``ziglang`` (PyPI), which compiles and links, and ``wasm-opt`` of ``binaryen`` (npm), which turns 64-bit memory
into 32-bit memory for browsers that lack the former. Neither is needed to use the result.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PLAIN = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
PLAIN |= {"NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}
TRIPLE = "wasm64-unknown-unknown"
LAYOUT = "e-m:e-p:64:64-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
FEATURES = ("memory64", "bulk-memory", "sign-ext", "nontrapping-float-to-int", "mutable-globals")
# Numba counts references with an instruction of x86; in WebAssembly there is one thread.
ATOMIC = "llvm.x86.atomic.sub.cc.i64"
SUBTRACT = """
define private i8 @subtract(ptr %count, i64 %less) alwaysinline {
  %before = load i64, ptr %count
  %after = sub i64 %before, %less
  store i64 %after, ptr %count
  %none = icmp eq i64 %after, 0
  %result = zext i1 %none to i8
  ret i8 %result
}
"""


def main() -> None:
    """Make the module, in a process whose numba compiles for a plain processor and takes nothing from its cache."""
    if not all(os.environ.get(name) == value for name, value in PLAIN.items()):
        with tempfile.TemporaryDirectory() as cache:
            settings = PLAIN | {"XDG_CACHE_HOME": cache}
            command = [sys.executable, "-m", "schedlab.web.build"]
            sys.exit(subprocess.run(command, env=os.environ | settings, check=False).returncode)
    with tempfile.TemporaryDirectory() as folder:
        _make(Path(folder))


def _make(folder):
    import json

    import llvmlite.binding as llvm

    from schedlab.web import HERE, KERNELS, POOLS, digests

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=3)
    _compile()
    described = {}
    objects = []
    for name, kernel in KERNELS.items():
        (signature,) = kernel.overloads
        compiled = kernel.overloads[signature]
        described[name] = {
            "names": list(kernel.py_func.__code__.co_varnames[: len(signature)]),
            "args": [_described(kind) for kind in signature],
            "returns": _described(compiled.signature.return_type),
            "changes": kernel in POOLS,  # whether its results are in the arrays that it is called with
        }
        module = llvm.parse_bitcode(compiled.library._final_module.as_bitcode())
        module = _for_web(llvm, machine, module, compiled.fndesc.llvm_func_name, name)
        objects.append(folder / f"{name}.o")
        objects[-1].write_bytes(machine.emit_object(module))
    wide = HERE / "kernels64.wasm"
    runtime = folder / "runtime.o"
    compiling = ["cc", "-target", "wasm64-freestanding", "-O2", "-fno-builtin", "-c"]
    _zig(*compiling, HERE / "runtime.c", "-o", runtime)
    exports = [f"--export={name}" for name in KERNELS]
    linking = ["wasm-ld", "-mwasm64", "--gc-sections", "--no-entry", "--strip-all"]
    _zig(*linking, *exports, *objects, runtime, "-o", wide)
    narrow = [_wasm_opt(), "--memory64-lowering", *(f"--enable-{feature}" for feature in FEATURES), "-O2"]
    subprocess.run([*narrow, wide, "-o", HERE / "kernels.wasm"], check=True)
    text = json.dumps({"digests": digests(), "kernels": described}, indent=1)
    (HERE / "kernels.json").write_text(f"{text}\n", encoding="utf-8")
    for path in sorted(HERE.glob("*.wasm")):
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def _compile():
    """Let numba compile each kernel for the types that `simulate` calls it with."""
    from schedlab._runtime.compiling import not_here
    from schedlab.machine import Closed, Pools
    from schedlab.schedule.simulation import simulate
    from schedlab.schedule.starts import started_by
    from schedlab.schemes import DPSA, EASY, FCFS, Conservative, OpportuneShredding
    from schedlab.schemes.moldable import FairShareMoldable, GreedyMoldable, IterativeMoldable
    from schedlab.workload.loading import model_trace
    from schedlab.workload.speedup import Downey

    not_here()  # nor in another process, whose modules are lost
    trace = model_trace("lublin", jobs=60, machine=16, seed=1)
    for scheme in (FCFS(), EASY(), EASY(reservations=4), Conservative(), DPSA()):
        schedule = simulate(trace, scheme)
    simulate(trace.with_parameter_sweeps(0.5, seed=1), OpportuneShredding())
    trace = trace.with_speedup(Downey("system", (0, 2)), seed=1)
    for scheme in (FairShareMoldable(), GreedyMoldable(), IterativeMoldable()):
        simulate(trace, scheme)
    schedule.processors()
    started_by(schedule)
    machine = Pools(all=trace.procs, closed=Closed(0, 1), column="none")
    for scheme in (EASY(), Conservative()):
        started_by(simulate(trace, scheme, machine=machine))


def _described(kind):
    """Describe a type of numba's: arrays and tuples as mappings, None as an empty tuple, others by their names."""
    from numba.core import types

    if isinstance(kind, types.NoneType):
        return {"tuple": []}
    if isinstance(kind, types.BaseTuple):
        names = getattr(kind, "fields", None) or map(str, range(len(kind.types)))
        return {"tuple": [[name, _described(part)] for name, part in zip(names, kind.types, strict=True)]}
    if isinstance(kind, types.Array):
        return {"array": str(kind.dtype), "axes": kind.ndim}
    return str(kind)


def _for_web(llvm, machine, module, entry, name):
    """Return a kernel's module with a single entry of a plain name, for WebAssembly."""
    for function in module.functions:
        if function.name == entry:
            function.linkage = "external"
            function.name = name
        elif not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    passes, builder = _passes(llvm, machine)
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.add_strip_symbols_pass()  # some names do not survive as text
    passes.run(module, builder)
    module = llvm.parse_assembly(_as_wasm(str(module)))
    module.verify()
    passes, builder = _passes(llvm, machine)
    passes.add_always_inliner_pass()
    passes.run(module, builder)
    return module


def _passes(llvm, machine):
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    return llvm.create_new_module_pass_manager(), llvm.create_pass_builder(machine, options)


def _as_wasm(text):
    """Rewrite the text of a module: the target, and the instruction of another processor.

    Pickled errors are left out: nobody reads them there, and they name the files of the machine that made the module.
    """
    import re

    text = re.sub(r'(constant \[\d+ x i8\]) c"\\80\\04[^\n]*?"', r"\1 zeroinitializer", text)
    text = re.sub(rf"declare [^\n]*@{re.escape(ATOMIC)}[^\n]*\n", "", text)
    call = rf"call i8 @{re.escape(ATOMIC)}\(ptr (?:nonnull )?([^,]+), i64 ([^,]+), i32 [^)]*\)"
    text = re.sub(call, r"call i8 @subtract(ptr \1, i64 \2)", text)
    text = re.sub(r"target triple = .*", f'target triple = "{TRIPLE}"', text)
    text = re.sub(r"target datalayout = .*", f'target datalayout = "{LAYOUT}"', text)
    text = re.sub(r'"target-(?:cpu|features)"="[^"]*"', "", text)
    return text + SUBTRACT


def _zig(*arguments):
    subprocess.run([sys.executable, "-m", "ziglang", *map(str, arguments)], check=True)


def _wasm_opt():
    tool = shutil.which("wasm-opt", path=f"build/web/node_modules/.bin{os.pathsep}{os.environ['PATH']}")
    if tool is None:
        sys.exit("wasm-opt is missing: npm install --prefix build/web binaryen")
    return tool


if __name__ == "__main__":
    main()

"""The decorator `jit` for compiled code, and its cache on disk.

`@jit` compiles with numba and caches on disk.  With NUMBA_DISABLE_JIT=1 the very same functions run as plain Python and
give bit-identical results: no fast-math, no parallel loops.  Importing this package imports numba (about half a
second), so only modules that compute import it, and the commands that do not simulate never do.

    decorator.py       the options of compiled functions; large ones are called by name
    code_cache.py      where machine code is kept, by a digest of its sources, with checksums
    fast_compiling.py  shorter compilation
"""

from bbfalsify.jit.code_cache import COMPILED_ROOMS, build_digest, cache_folder, is_cached
from bbfalsify.jit.decorator import call_by_name, jit
from bbfalsify.jit.fast_compiling import compiling

__all__ = ["COMPILED_ROOMS", "build_digest", "cache_folder", "call_by_name", "compiling", "is_cached", "jit"]

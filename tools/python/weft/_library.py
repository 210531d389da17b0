# SPDX-License-Identifier: Apache-2.0
"""The shared library."""
import os

from ._weft import ffi

NAME = "libweft.so.1"


def _opened():
    name = os.environ.get("PYWEFT_LIBRARY", NAME)
    try:
        return ffi.dlopen(name)
    except OSError as failure:
        raise ImportError(f"{name} cannot be loaded ({failure}): install weft, or name its library by PYWEFT_LIBRARY, or "
                          f"its folder by LD_LIBRARY_PATH") from None


lib = _opened()


def version() -> tuple:
    """Of the library: (major, minor, patch)."""
    number = lib.weft_version()
    return number // 10000, number // 100 % 100, number % 100

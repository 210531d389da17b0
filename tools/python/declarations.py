# SPDX-License-Identifier: Apache-2.0
"""Makes weft/_weft.py: what weft.h declares, for cffi. No compiler is needed."""
import os
import re
import subprocess
from pathlib import Path

import cffi


def header() -> Path:
    """PYWEFT_HEADER, or the one of the source tree that this lies in, or the installed one."""
    given = os.environ.get("PYWEFT_HEADER")
    if given:
        return Path(given)
    beside = Path(__file__).resolve().parents[2] / "collectives/c/include/weft.h"
    if beside.exists():
        return beside
    folder = subprocess.run(["pkg-config", "--variable=includedir", "weft"], capture_output=True, text=True)
    if folder.returncode != 0:
        raise SystemExit("weft.h is not there: install weft, or say where it is by PYWEFT_HEADER")
    return Path(folder.stdout.strip()) / "weft.h"


def declared(text: str) -> str:
    """The declarations of the header, without comments and macros."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    values = dict(re.findall(r"#define (WEFT_ANY_\w+) \((-?\d+)\)", text))
    text = re.sub(r'#ifdef __cplusplus\s+(extern "C" \{|\})\s+#endif', "", text)
    text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.M)

    def three_forms(match: re.Match) -> str:
        name, parameters = match[1], match[2]
        return (f"int weft_{name}({parameters});\n"
                f"int weft_i{name}({parameters}, weft_request** request);\n"
                f"int weft_plan_{name}({parameters}, weft_plan** plan);\n")

    text = re.sub(r"WEFT_COLLECTIVE_\((\w+),\s*([^)]*)\)", three_forms, text)
    text = text.replace("WEFT_API ", "")
    return text + "".join(f"#define {name} {value}\n" for name, value in values.items())


made = cffi.FFI()
made.set_source("weft._weft", None)
made.cdef(declared(header().read_text()))

if __name__ == "__main__":
    made.compile(verbose=False)

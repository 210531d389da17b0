#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Modules of a folder do not include each other in a circle, nor by a path that leaves the folder: what a folder may see
is the build's to say. X.hpp, X.cpp and a public include/weft/.../X.hpp are one module.

    test_include_circles.py FOLDER...

Folders below one with an include/ of their own are looked at alone.
"""

import os
import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^#include (?:"(.+)"|<(weft/.+)>)', re.M)


def module_of(folder, path):
    inside = path.relative_to(folder).with_suffix("").as_posix()
    return re.sub("^include/weft/(.*/)?", "", inside)


def normal(path):
    return pathlib.Path(os.path.normpath(path))


def included_modules(folder):
    """Of each module: those of the folder that it includes."""
    apart = [each.parent for each in folder.glob("*/include")]
    paths = [path for path in folder.rglob("*.[ch]pp") if not any(path.is_relative_to(each) for each in apart)]
    modules = {path: module_of(folder, path) for path in paths}
    found = {module: set() for module in modules.values()}
    for path, module in modules.items():
        for beside, public in INCLUDE.findall(path.read_text()):
            places = [folder / "include" / public] if public else [path.parent / beside, folder / beside]
            found[module].update(modules[path] for path in map(normal, places) if path in modules)
        found[module].discard(module)
    return found


def without_ends(included):
    """Without modules that include no others, then without those that include none but these, and so on."""
    left = dict(included)
    while ends := [module for module, others in left.items() if not others & left.keys()]:
        for module in ends:
            del left[module]
    return left


def in_circles(included):
    left = without_ends(included)
    return sorted(without_ends({module: {each for each in left if module in left[each]} for module in left}))


def leaving(folder):
    """Files that include by a path which leads upward."""
    return sorted(str(path) for path in folder.rglob("*.[ch]pp") if '#include "../' in path.read_text())


def check_that_one_is_found():
    with tempfile.TemporaryDirectory() as top:
        made = pathlib.Path(top) / "made"
        (made / "include/weft/made").mkdir(parents=True)
        (made / "include/weft/made/first.hpp").write_text("")
        (made / "first.cpp").write_text('#include "inner/second.hpp"\n')
        (made / "inner").mkdir()
        (made / "inner/second.hpp").write_text('#include "../third.hpp"\n')
        assert leaving(made) == [str(made / "inner/second.hpp")]
        (made / "third.hpp").write_text('#include <weft/made/first.hpp>\n#include "below.hpp"\n')
        (made / "below.hpp").write_text("")
        (made / "above.cpp").write_text('#include "third.hpp"\n')
        assert in_circles(included_modules(made)) == ["first", "inner/second", "third"]
        (made / "third.hpp").write_text('#include "below.hpp"\n')
        assert in_circles(included_modules(made)) == []


check_that_one_is_found()
circles = {folder: in_circles(included_modules(pathlib.Path(folder).resolve())) for folder in sys.argv[1:]}
for folder, modules in circles.items():
    if modules:
        print(f"{folder}: modules in a circle of includes, or between two: {', '.join(modules)}")
upward = [path for folder in circles for path in leaving(pathlib.Path(folder))]
if upward:
    print(f"a path upward is included by {', '.join(upward)}")
sys.exit(any(circles.values()) or bool(upward))

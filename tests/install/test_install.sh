#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs weft into a folder of its own and uses it as the README and tools/PACKAGES.md say.
#   test_install.sh SOURCE BUILD MESON PREFIX LIBDIR
set -euo pipefail

# shellcheck source=installed.sh
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh" "$@"

# What is public, and nothing else; each header can be included alone.
public="api.h array_view.hpp communicator.hpp counts.hpp deadline.hpp grid.hpp grid_shape.hpp group.hpp halo.hpp handle.hpp kernels/combine.hpp kernels/half.hpp kernels/located.hpp kernels/reproducible.hpp"
public+=" kernels/scalar_operators.hpp kernels/types.hpp layout.hpp matched_message.hpp mutex.hpp node_memory.hpp operators.hpp pending_communicator.hpp plan.hpp request.hpp runtime.hpp runtime/clock.hpp runtime/copy_bytes.hpp runtime/error.hpp runtime/event.hpp runtime/launch_description.hpp"
public+=" runtime/time_limit.hpp schedules/collective.hpp statistics.hpp status.hpp task.hpp type.hpp version.hpp wait.hpp weft.hpp window.hpp window_atomics.hpp"
[[ $(ls "$root/include") == "weft
weft.h" ]] || fail "installed in include are $(ls "$root/include"), not weft and weft.h"
gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$root/include" -include weft.h -x c /dev/null
g++ -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$root/include" -include weft.h -x c++ /dev/null
found=$(cd "$root/include/weft" && find . -type f -printf '%P\n' | LC_ALL=C sort | paste -sd ' ')
[[ $found == "$public" ]] || fail "installed are the headers $found, not $public"
for header in $public; do
  g++ -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$root/include" -include "weft/$header" -x c++ /dev/null
done

cmp "$source/LICENSE" "$root/share/licenses/weft/LICENSE" || fail "the license is not installed"
cmp "$source/tools/gdb/weft.py" "$root/share/weft/gdb/weft.py" || fail "the commands for gdb are not installed"

# The README's program, compiled by the README's commands.
export PKG_CONFIG_PATH=$root/$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
pkg-config() { command pkg-config --define-variable=prefix="$root" "$@"; }
# shown_commands FILE [PROGRAM]: those that the page shows by which hello.cpp, or that, is compiled.
shown_commands() { awk '$0 == "```" { inside = 0 } inside; $0 == "```sh" { inside = 1 }' "$1" | grep "${2:-hello.cpp}.*pkg-config"; }
cpp_block() { awk -v which="$1" '$0 == "```" { inside = 0 } inside; $0 == "```cpp" { inside = ++found == which }' "$source/$2"; }
cpp_block 1 README.md >"$stage/hello.cpp"
diff <(grep -v SPDX "$source/examples/hello.cpp") "$stage/hello.cpp" || fail "the README's program is not examples/hello.cpp"
# body NUMBER PARAMETERS: that block of collectives/PROGRAMMING.md as the body of a function.
body() {
  printf 'void use_%s(%s) {\n#line 1 "block %s"\n' "$1" "$2" "$1"
  cpp_block "$1" collectives/PROGRAMMING.md
  echo "}"
}
{
  printf '#include <cmath>\n#include <vector>\n#include <weft/weft.hpp>\nstruct row { int length; };\n'
  body 1 'weft::communicator& world, double of_mine, int from, const row& mine, const std::vector<double>& some_of_mine'
  body 2 'weft::communicator& world, std::vector<double>& cells, std::size_t rows, std::size_t columns, int left, const double* in, std::size_t n, double* out'
  body 3 'weft::communicator& world, std::vector<double>& field, std::size_t rows, std::size_t columns'
  body 4 'weft::runtime& runtime, weft::communicator& world'
  body 5 'weft::communicator& world, int right, const std::vector<double>& edge'
} >"$stage/blocks.cpp"
g++ -std=c++20 -Wall -Wextra -Wno-unused-variable -Wno-unused-but-set-variable -Werror -fsyntax-only \
  -I"$root/include" "$stage/blocks.cpp" || fail "these blocks of collectives/PROGRAMMING.md are no C++"
# The programs in C and Python are the examples.
for language in c python; do
  awk -v begin="\`\`\`$language" '$0 == "```" { inside = 0 } inside; $0 == begin { inside = 1 }' "$source/README.md" >"$stage/block"
  example=$source/examples/hello.${language/python/py}
  diff <(tail -n +2 "$example") <(sed '1s,^/\*, *,' "$stage/block") || fail "the README's program in $language is not $example"
done
cd "$stage"
# linked_to NAMES: those of weft's libraries, and of those that weft uses, that the program needs.
linked_to() { readelf -d hello | grep NEEDED | grep -oE "lib($1)" | LC_ALL=C sort | paste -sd ' '; }
says() {
  echo "$*"
  "$@" | LC_ALL=C sort | tee output
  diff - output || fail "$* says something else"
}
mapfile -t compile < <(shown_commands "$source/README.md"; shown_commands "$source/tools/PACKAGES.md")
[[ ${#compile[@]} == 2 && ${compile[1]} == *--static* ]] ||
  fail "the README does not say how to compile by pkg-config, or tools/PACKAGES.md how statically"

echo "${compile[1]}"
eval "${compile[1]}"
[[ $(linked_to "weft|fabric|pmix") == "" ]] || fail "what is linked statically needs $(linked_to "weft|fabric|pmix")"
says ./hello <<<"rank 0 of 1: 1 ranks, whose numbers add up to 0"

echo "${compile[0]}"
eval "${compile[0]}"
[[ $(linked_to "weft|fabric|pmix|hwy|hwloc|nettle|boost") == libweft ]] || fail "what is linked needs more than libweft"
export LD_LIBRARY_PATH=$root/$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
cp "$source/examples/hello.c" .
in_c=$(shown_commands "$source/README.md" hello.c' ')
echo "$in_c"
eval "$in_c"
says "$root/bin/weft" run -n 2 --oversubscribe ./hello_c <<'END'
rank 0 of 2: the numbers add up to 1
rank 1 of 2: the numbers add up to 1
END
says ./hello <<<"rank 0 of 1: 1 ranks, whose numbers add up to 0"
for ranks_per_process in 1 2; do
  says "$root/bin/weft" run -n 2 --oversubscribe --ranks-per-process $ranks_per_process ./hello <<'END'
rank 0 of 2: 2 ranks, whose numbers add up to 1
rank 1 of 2: 2 ranks, whose numbers add up to 1
END
done

# A sanitizer that watches the program and not weft has nothing to say of exceptions on fibers.
with_errors() { "$@" 2>&1; }
for sanitizer in address thread; do
  # shellcheck disable=SC2046
  g++ -std=c++20 -g -fsanitize=$sanitizer "$source/tests/jobs/mishap.cpp" $(pkg-config --cflags --libs weft) -o watched
  says with_errors "$root/bin/weft" run -n 2 --oversubscribe --ranks-per-process 2 ./watched throw <<'END'
rank 0 caught 100
rank 1 caught 100
END
done

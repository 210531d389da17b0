#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is built, by the options: asked of build folders that are only set up.
#   test_build_options.sh SOURCE MESON
set -euo pipefail

source=$1 meson=$2
stage=$(mktemp -d)
trap 'rm -r "$stage"' EXIT

fail() {
  echo "FAILED: $1"
  exit 1
}

# builds NAME OPTION...: the commands that `ninja` or `meson install` would run after a set-up with these options.
builds() {
  "$meson" setup "$stage/$1" "$source" "${@:2}" >"$stage/$1.log" || { cat "$stage/$1.log"; exit 1; }
  ninja -C "$stage/$1" -n >"$stage/$1.commands"
}

# What is installed, or goes into that.
builds usual
grep -E ' (tests|examples)/' "$stage/usual.commands" && fail "it builds what it does not install"
sed -n 's/.*Linking target //p' "$stage/usual.commands" | LC_ALL=C sort >"$stage/linked"
"$meson" introspect --targets "$stage/usual" | python3 -c '
import json, os, sys
for target in json.load(sys.stdin):
    if target["installed"] and target["type"] not in ("static library", "custom"):
        print(os.path.relpath(target["filename"][0], sys.argv[1]))' "$stage/usual" | LC_ALL=C sort >"$stage/installed"
diff "$stage/installed" "$stage/linked" || fail "it links what it does not install, or the other way around"

# Each file is compiled once, for both forms of the library.
sed -n 's/.*"file": //p' "$stage/usual/compile_commands.json" | LC_ALL=C sort | uniq -d >"$stage/twice"
[[ ! -s $stage/twice ]] || { cat "$stage/twice"; fail "it compiles these twice"; }

# The library alone needs nothing of what only the others need.
only_library=(-Dtests=disabled -Dtools=disabled -Dexamples=disabled)
builds library "${only_library[@]}"
grep -E ' (tests|tools|examples)/' "$stage/library.commands" && fail "it builds more than the library"
grep -iE '(catch2|cli11|nlohmann_json).* found' "$stage/library.log" && fail "it looks for what the library does not need"

# What is off is not there.
builds lean "${only_library[@]}" -Dpmi=disabled
grep -q pmi "$stage/lean/compile_commands.json" && fail "it builds what meets by PMI"
builds plain -Dsimulator=disabled
grep -qE '(simulator/[a-z_]*|network_costs)\.cpp' "$stage/plain/compile_commands.json" && fail "it builds the simulator"
grep -q ' tools/' "$stage/plain.commands" && fail "it builds tools, which need the simulator"

# Kernels are of the types and operators that are named, and of what weft needs itself.
builds few "${only_library[@]}" -Dtypes=int32,located_float -Doperators=min
for kept in TYPES=float32,float64,reproducible_float32,reproducible_float64,int32,located_float32 OPERATORS=sum,max,min; do
  grep -q -- "-DWEFT_KERNEL_$kept\b" "$stage/few/compile_commands.json" || fail "kernels are not of $kept"
done
grep -q WEFT_KERNEL_ "$stage/lean/compile_commands.json" && fail "it leaves kernels out unasked"

# Tests do without the tools and the examples, as far as they go.
builds tests -Dtests=enabled -Dtools=disabled -Dexamples=disabled
grep -E ' (tools|examples)/' "$stage/tests.commands" && fail "it builds more than the library and tests"
grep -q ' tests/collectives/' "$stage/tests.commands" || fail "it builds no tests"

# Kernels are for the instruction sets that are named, and those that nobody has are refused.
builds baseline "${only_library[@]}" -Dkernel_targets=baseline
grep -q -- -DHWY_COMPILE_ONLY_STATIC "$stage/baseline/compile_commands.json" || fail "kernels are not of the baseline alone"
case $(uname -m) in
  x86_64) here=avx2 elsewhere=sve ;;
  *) here=sve elsewhere=avx2 ;;
esac
builds one "${only_library[@]}" -Dkernel_targets=$here
grep -q "DHWY_DISABLED_TARGETS=.*HWY_${here^^}" "$stage/one/compile_commands.json" || fail "kernels are not of $here"
for wrong in $elsewhere avx4; do
  if "$meson" setup "$stage/$wrong" "$source" "${only_library[@]}" -Dkernel_targets="$wrong" >"$stage/log"; then
    fail "kernels are compiled for $wrong"
  fi
  grep -q "ERROR.*$wrong" "$stage/log" || { cat "$stage/log"; fail "what is wrong with $wrong is not said"; }
done

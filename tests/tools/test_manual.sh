#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Man pages and completions: those that are installed are all there are, pages are right and have every option of the
# help, and shells complete by the rest.
#   test_manual.sh WEFT FILE...
# FILEs are what the build installs.
set -euo pipefail

weft=$(realpath "$1")
shift
stage=$(mktemp -d)
trap 'rm -r "$stage"' EXIT

fail() {
  echo "FAILED: $1"
  exit 1
}

"$weft" manual "$stage"
diff <(basename -a "$@" | LC_ALL=C sort) <(cd "$stage" && printf '%s\n' * | LC_ALL=C sort) ||
  fail "the build installs (<) other files than weft manual writes (>)"
for file in "$@"; do [[ $file != *.1 ]] || cp "$file" "$stage"; done
cd "$stage"

# Pages, of which the build has other dates than these.
page_is_right() {
  local said
  if command -v mandoc >/dev/null; then mandoc -Tlint -Wwarning "$1" || fail "mandoc does not like $1"; fi
  if command -v groff >/dev/null; then
    said=$(groff -ww -z -man -Kutf8 "$1" 2>&1) || fail "groff fails at $1"
    [[ -z $said ]] || fail "groff says of $1: $said"
  fi
}
commands=$("$weft" --help | sed -n '/^Subcommands:/,$s/^  \([a-z]\+\) .*/\1/p')
[[ $(wc -w <<<"$commands") -ge 11 ]] || fail "the help lists the commands $commands"
for command in '' $commands; do
  page=weft${command:+-$command}.1
  page_is_right "$page"
  # Options stand at the beginning of lines.
  # shellcheck disable=SC2086  # none for weft itself
  options=$("$weft" $command --help | sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr , '\n')
  [[ $options == *--help* ]] || fail "weft $command --help shows no options"
  for option in $options; do
    grep -qF -- "\\fB${option//-/\\-}\\fR" "$page" || fail "$page does not have $option"
  done
done
grep -q 'weft\\-allreduce=' weft.1 || fail "weft.1 does not have the options of programs"

# completed WORD...: what bash proposes for the last one, sorted.
completed() {
  bash --norc -c '
    source weft.bash
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    compopt() { :; }
    _weft
    printf "%s\n" "${COMPREPLY[@]}"' - "$@" | LC_ALL=C sort | paste -sd ' '
}
proposes() {
  local expected=$1 found
  shift
  found=$(completed "$@")
  [[ $found == "$expected" ]] || fail "for '$*' bash proposes '$found', not '$expected'"
}
bash -n weft.bash
proposes "plan" weft pl
proposes "$(LC_ALL=C sort <<<"$commands" | paste -sd ' ')" weft ''
proposes "--help --version" weft --
proposes "--tag-output --timeout --topology --trace" weft run --t
proposes "caller thread" weft run --progress ''
proposes "thread" weft run -n 2 --progress = t
proposes "thread" weft run -n 2 --progress t
proposes "core none numa" weft run --bindto ''
proposes "van-de-geijn" weft plan bcast --algorithm van
proposes "broadcast" weft plan br
proposes "allgather allreduce alltoall" weft bench all
proposes "" weft run --hostfile ''
proposes "--weft-allgather= --weft-allreduce= --weft-alltoall=" weft bench --weft-all

# What a user gets who presses the tabulator: a line, completed by the shell, that prints its words.
cat >typed.py <<'END'
import os, pty, sys

pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
os.write(terminal, b"source weft.bash; weft() { echo \"<$*>\"; }\n" + sys.argv[1].encode() + b"\nexit\n")
try:
    while text := os.read(terminal, 4096):
        sys.stdout.buffer.write(text)
except OSError:
    pass  # the terminal's other end has gone
os.waitpid(pid, 0)
END
python3 typed.py $'weft ru\t--prog\tthr\t--report-b\t-n 2 ech\t' | tr -d '\r' >typed
grep -q '^<run --progress thread --report-bindings -n 2 echo>$' typed || { cat typed; fail "a bash does not complete"; }

if command -v zsh >/dev/null; then zsh -n _weft || fail "zsh does not understand _weft"; fi
if command -v fish >/dev/null; then
  fished() { HOME=$stage fish --no-config -c "source weft.fish; complete -C '$1'" | cut -f 1 | paste -sd ' '; }
  [[ $(fished 'weft pl') == plan ]] || fail "fish makes '$(fished 'weft pl')' of 'weft pl'"
  [[ $(fished 'weft run --progress th') == thread ]] || fail "fish makes '$(fished 'weft run --progress th')' of --progress th"
  [[ $(fished 'weft plan --algorithm van-de-g') == van-de-geijn ]] || fail "fish does not complete algorithms"
fi

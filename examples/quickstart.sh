#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets weft up on Debian 12 or later and solves a linear system on four ranks.
#
#   bash examples/quickstart.sh              HPCG's 27-point problem on 32 x 32 x 32 points
#   bash examples/quickstart.sh MATRIX.mtx   a system of your own, symmetric positive definite, from a Matrix Market file
#
# Installs the Debian packages that are missing (through sudo if not root), builds a release into build/, then prints how
# the solver converges, its time per iteration, the share of it spent in communication, and a comparison with the serial
# solver. A second run builds only what has changed.
set -euo pipefail

if (($# > 1)) || [[ ${1:-} == -* ]]; then
  echo "usage: bash examples/quickstart.sh [MATRIX.mtx]" >&2
  exit 2
fi
if (($# == 1)) && [[ ! -f $1 ]]; then
  echo "quickstart: $1: no such file" >&2
  exit 1
fi

# shellcheck source=../tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/setup.sh"
build_directory=$weft_source/build

install_packages
configure "$build_directory"
build "$build_directory" tools/weft examples/cg

problem=(--stencil 32)
if (($# == 1)); then problem=("$1"); fi
solve=("$build_directory/tools/weft" run -n 4 --oversubscribe "$build_directory/examples/cg" --check "${problem[@]}")
echo
echo "${solve[*]}"
"${solve[@]}"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Debian's packages of this tree, as it is, into a folder: needs what debian/control names, and dpkg-dev.
#   package.sh FOLDER [--only-source]
# --only-source leaves in FOLDER/weft-VERSION what dpkg-buildpackage, or apt-get build-dep, are called for.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
version=$(sed -n "s/^ *version: '\(.*\)',$/\1/p" "$source/meson.build" | head -n 1)
mkdir -p "$1"
tree=$(cd "$1" && pwd)/weft-$version

rm -rf "$tree"
mkdir "$tree"
cd "$source"
git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$tree"
mv "$tree/tools/debian" "$tree/debian"
cd "$tree"
[[ $(dpkg-parsechangelog -S Version) == "$version"-* ]] ||
  { echo "tools/debian/changelog begins with $(dpkg-parsechangelog -S Version); this is weft $version" >&2; exit 1; }
[[ ${2:-} == --only-source ]] || dpkg-buildpackage -us -uc -b

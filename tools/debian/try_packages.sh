#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Debian's packages of this tree in a clean root of a release, with nothing but what they say they need, installs
# them in another, and compiles and runs programs there. As root, with mmdebstrap; from the mirror that this machine's
# own packages come from.
#   try_packages.sh SUITE [FOLDER]
# SUITE is bookworm, trixie, ... FOLDER gets the packages; without it they are thrown away.
set -euo pipefail

suite=$1 source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
# shellcheck disable=SC2016  # apt's variables
mirror=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Created-By: Packages' |
  awk -F'|' '$1 == "Debian" && $2 == "Debian" { print $3; exit }')
[[ $mirror ]] || { echo "try_packages.sh: this machine's packages come from no mirror of Debian" >&2; exit 1; }

# clean_root NAME VARIANT: one as mmdebstrap makes it.
clean_root() {
  mmdebstrap --quiet --variant="$2" "$suite" "$work/$1" "$mirror"
  cp /etc/resolv.conf "$work/$1/etc/resolv.conf"
}

# within NAME: carries out, in that root, the commands that it reads. What they mount and start ends with them.
within() {
  # shellcheck disable=SC2016  # for the shell inside
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" &&
      exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        DEB_BUILD_OPTIONS="parallel=$(nproc)" chroot "$1" bash -euxo pipefail -s' - "$work/$1"
}

clean_root builder buildd
bash "$source/tools/debian/package.sh" "$work/builder/build" --only-source
within builder <<'END'
cd /build/weft-*
apt-get update -qq
apt-get build-dep -qq --no-install-recommends ./
dpkg-buildpackage -us -uc -b
apt-get install -qq --no-install-recommends lintian
lintian --fail-on error --display-info ../*.changes
END

if [[ ${2:-} ]]; then
  mkdir -p "$2"
  cp "$work"/builder/build/*.{deb,changes,buildinfo} "$2"
fi

clean_root user minbase
mkdir "$work/user/try"
cp "$work"/builder/build/*.deb "$work/user/try"
cp -r "$source/examples" "$source/tools/python" "$work/user/try"
cp "$source/tests/install/CMakeLists.txt" "$work/user/try"
within user <<'END'
cd /try
apt-get update -qq
apt-get install -qq --no-install-recommends ./libweft1_*.deb ./weft_*.deb
weft --version  # before there are any development files
apt-get install -qq --no-install-recommends ./libweft-dev_*.deb g++ pkgconf cmake make libboost-context-dev libhwloc-dev \
  nettle-dev libcli11-dev nlohmann-json3-dev python3-cffi python3-numpy python3-setuptools python3-pip \
  python3-venv python3-wheel

g++ -std=c++20 examples/hello.cpp $(pkg-config --cflags --libs weft) -o hello
test "$(weft run -n 2 --oversubscribe ./hello | wc -l)" = 2

cp examples/hello.cpp .
cmake -S . -B cmake
cmake --build cmake
test "$(weft run -n 2 --oversubscribe cmake/hello | wc -l)" = 2
test "$(weft run -n 2 --oversubscribe cmake/hello_static | wc -l)" = 2

g++ -std=c++20 -O1 examples/cg/*.cpp $(pkg-config --cflags --libs weft) -o cg
weft run -n 2 --oversubscribe ./cg --stencil 20 --check
for each in heat sample_sort; do
  g++ -std=c++20 -O1 examples/$each.cpp $(pkg-config --cflags --libs weft) -o $each
  weft run -n 3 --oversubscribe ./$each
done
for each in hello heat; do
  gcc examples/$each.c $(pkg-config --cflags --libs weft) -o ${each}_c
  weft run -n 3 --oversubscribe ./${each}_c
done
python3 -m venv --system-site-packages venv
venv/bin/pip install --no-build-isolation --no-deps ./python
for each in hello heat sample_sort training; do
  weft run -n 3 --oversubscribe venv/bin/python examples/$each.py
done

# Until here jobs were of one node, which need no libfabric: packages only recommend it.
apt-get install -qq --no-install-recommends libfabric1
test "$(weft run -n 2 --oversubscribe -x WEFT_NODE=off ./hello | wc -l)" = 2
weft info

apt-get purge -qq weft libweft1 libweft-dev
test ! -e /usr/bin/weft
END

echo "weft's packages for $suite: built, installed and used"

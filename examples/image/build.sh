#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes FOLDER/vmlinuz and FOLDER/initramfs: a machine that boots them runs the solver as a part of the job that its
# kernel's command line describes (init.cpp), and powers off. Nothing else is in there but the kernel's modules for a
# virtual network interface, and the secret that all machines of these files have.
#   build.sh FOLDER [--arch aarch64] [MESON'S OPTION...]
# Options count when FOLDER is new: --arch makes a machine of another kind than this one, -Dkernel_targets=avx2 leaves the
# other instruction sets out. On Debian, once, as root:
#   apt-get install build-essential meson ninja-build cpio kmod xz-utils libcli11-dev nlohmann-json3-dev
# for --arch aarch64 also
#   apt-get install g++-aarch64-linux-gnu qemu-user
# and the archives of the libraries that weft uses, if these are not in subprojects/packagecache:
#   bash tools/fetch_subprojects.sh
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../../tools/setup.sh
source "$source/tools/setup.sh"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
here=$(uname -m) architecture=$(uname -m)
[[ ! -e $folder/architecture ]] || architecture=$(<"$folder/architecture")
if [[ ${1:-} == --arch ]]; then
  [[ ! -e $folder/architecture || $2 == "$architecture" ]] ||
    { echo "build.sh: $folder has an image for $architecture, not for $2; take a new folder" >&2; exit 2; }
  architecture=$2
  shift 2
fi
case $architecture in
  x86_64) debian=amd64 ;;
  aarch64) debian=arm64 ;;
  *) echo "build.sh: an image is for x86_64 or aarch64, not for $architecture" >&2; exit 2 ;;
esac
strip=strip
if [[ $architecture != "$here" ]]; then
  [[ $architecture == aarch64 ]] || { echo "build.sh: no image for $architecture is built on $here" >&2; exit 2; }
  aarch64_sysroot "$folder/sysroot"
  set -- --cross-file "$folder/sysroot/cross.ini" "$@"
  strip=aarch64-linux-gnu-strip
fi
echo "$architecture" >"$folder/architecture"

# All that the program links to is built with it: what distributions have links to much more in turn.
[[ -e $folder/build/build.ninja ]] ||
  meson setup "$folder/build" "$source" --wrap-mode=forcefallback -Ddefault_library=static -Dprefer_static=true \
    -Doptimization=2 -Dtools=disabled -Dexamples=enabled "-Dcpp_link_args=['-static','-Wl,--gc-sections']" "$@"
ninja -C "$folder/build" examples/image

# The kernel, which need not be installed.
if [[ ! -e $folder/vmlinuz ]]; then
  cd "$folder"
  foreign_apt "$folder" $debian apt-get update
  name=$(foreign_apt "$folder" $debian apt-cache depends linux-image-cloud-$debian |
    sed -n 's/.*Depends: \(linux-image-.*\)/\1/p' | head -n 1)
  foreign_apt "$folder" $debian apt-get download "$name"
  dpkg -x "$name"_*.deb kernel
  rm "$name"_*.deb
  depmod -b kernel "$(ls kernel/lib/modules)"
  cp kernel/boot/vmlinuz-* vmlinuz
fi

root=$folder/root
rm -rf "$root"
mkdir -p "$root"/{dev,proc,sys,tmp,modules}
$strip -o "$root/init" "$folder/build/examples/image"
number=10
modprobe -d "$folder/kernel" -S "$(ls "$folder/kernel/lib/modules")" --show-depends -a virtio_pci virtio_net |
  sed -n 's/^insmod //p' | awk '!seen[$1]++ { print $1 }' | while read -r module; do
  cp "$module" "$root/modules/$((number++))-${module##*/}"
done
(umask 077 && head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$root/secret")
(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc --owner=0:0) | xz --check=crc32 -9 >"$folder/initramfs"
echo "initramfs: $(stat -c %s "$folder/initramfs") bytes, of which weft's program is $(xz --check=crc32 -9 -c "$root/init" | wc -c)"

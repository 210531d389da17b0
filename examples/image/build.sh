#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes FOLDER/vmlinuz and FOLDER/initramfs: a machine that boots them runs the solver as a part of the job that its
# kernel's command line describes (init.cpp), and powers off. Nothing else is in there but the kernel's modules for a
# virtual network interface, and the secret that all machines of these files have.
#   build.sh FOLDER [MESON'S OPTION...]
# Options count when FOLDER is new: -Dkernel_targets=avx2 leaves the other instruction sets out. On Debian, once, as root:
#   apt-get install build-essential meson ninja-build cpio kmod xz-utils libcli11-dev nlohmann-json3-dev
# and the archives of the libraries that weft uses, if these are not in subprojects/packagecache:
#   bash tools/fetch_subprojects.sh
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift

# All that the program links to is built with it: what distributions have links to much more in turn.
[[ -e $folder/build/build.ninja ]] ||
  meson setup "$folder/build" "$source" --wrap-mode=forcefallback -Ddefault_library=static -Dprefer_static=true \
    -Doptimization=2 -Dtools=disabled -Dexamples=enabled "-Dcpp_link_args=['-static','-Wl,--gc-sections']" "$@"
ninja -C "$folder/build" examples/image

# The kernel, which need not be installed.
if [[ ! -e $folder/vmlinuz ]]; then
  cd "$folder"
  name=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p' | head -n 1)
  apt-get -q -o APT::Sandbox::User=root download "$name"
  dpkg -x "$name"_*.deb kernel
  rm "$name"_*.deb
  depmod -b kernel "$(ls kernel/lib/modules)"
  cp kernel/boot/vmlinuz-* vmlinuz
fi

root=$folder/root
rm -rf "$root"
mkdir -p "$root"/{dev,proc,sys,tmp,modules}
strip -o "$root/init" "$folder/build/examples/image"
number=10
modprobe -d "$folder/kernel" -S "$(ls "$folder/kernel/lib/modules")" --show-depends -a virtio_pci virtio_net |
  sed -n 's/^insmod //p' | awk '!seen[$1]++ { print $1 }' | while read -r module; do
  cp "$module" "$root/modules/$((number++))-${module##*/}"
done
(umask 077 && head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$root/secret")
(cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc --owner=0:0) | xz --check=crc32 -9 >"$folder/initramfs"
echo "initramfs: $(stat -c %s "$folder/initramfs") bytes, of which weft's program is $(xz --check=crc32 -9 -c "$root/init" | wc -c)"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Machines that boot nothing but the solver: as a job, with one that comes late, and with one that is taken away.
#   test_image.sh SOURCE FOLDER ARCHITECTURE
# FOLDER is kept, so that the next run builds only what has changed.
set -euo pipefail

source=$1 folder=$2 architecture=$3
tools=("qemu-system-$architecture" cpio modprobe depmod xz apt-get)
[[ $architecture == "$(uname -m)" ]] || tools+=("$architecture-linux-gnu-g++" "qemu-$architecture")
for tool in "${tools[@]}"; do
  command -v "$tool" >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
fail() {
  echo "FAILED: $1"
  exit 1
}

[[ -e $folder/vmlinuz ]] || apt-get download --print-uris linux-image-cloud-amd64 >/dev/null 2>&1 ||
  { echo "skipped: the kernel linux-image-cloud-amd64 is not to be had"; exit 77; }
bash "$source/tools/fetch_subprojects.sh" >/dev/null 2>&1 ||
  { echo "skipped: the archives of the libraries are neither in subprojects/packagecache nor to be fetched"; exit 77; }
# As little as the solver needs, and compiled soon.
bash "$source/examples/image/build.sh" "$folder" --arch "$architecture" -Dkernel_targets=baseline \
  -Dtypes=int32,int64,uint64 -Doperators=min -Dsimulator=disabled -Dpmi=disabled -Doptimization=1
(($(stat -c %s "$folder/initramfs") < 8 << 20)) || fail "the initramfs has more than 8 MiB"

run=$source/examples/image/run.sh
bash "$run" "$folder" | tee "$folder/said"
grep -q '4 ranks, the first all-reduce done' "$folder/said" || fail "not all ranks were there"
grep -q 'check: *passed' "$folder/said" || fail "the solver's result is not the serial one"

bash "$run" "$folder" --late 1 20 >"$folder/said" || { cat "$folder/said"; fail "a machine that came late was not waited for"; }

bash "$run" "$folder" --kill 1 2 -- --stencil 30 --tolerance 1e-300 --max-iterations 1000000 >"$folder/said" ||
  { cat "$folder/said"; fail "a machine was taken away, and the other did not end with an error"; }
grep -qE 'machine 0: .*rank [23]' "$folder/said" || { cat "$folder/said"; fail "who was lost is not named"; }

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Boots machines that have nothing but FOLDER's kernel and initramfs (build.sh), in QEMU, as one job; prints what each
# says. Exit status 0: the solver of all that were to end well did.
#   run.sh FOLDER [-n MACHINES] [--late MACHINE SECONDS] [--kill MACHINE SECONDS] [-- SOLVER'S ARGUMENTS]
# --late boots one so much later, --kill takes one away so long after the first all-reduce; then the others are to fail.
# Each has two cores and two ranks. They run on the processor where /dev/kvm can be used and works, else emulated.
# On Debian: apt-get install qemu-system-x86, or qemu-system-arm for aarch64
set -euo pipefail

folder=$(cd "$1" && pwd)
shift
machines=2 late=-1 late_by=0 killed=-1 killed_after=0 solver=(--stencil 20 --check)
while (($#)); do
  case $1 in
    -n) machines=$2; shift 2 ;;
    --late) late=$2 late_by=$3; shift 3 ;;
    --kill) killed=$2 killed_after=$3; shift 3 ;;
    --) shift; solver=("$@"); break ;;
    *) echo "run.sh: $1 is no option; see the beginning of this file" >&2; exit 2 ;;
  esac
done
architecture=$(<"$folder/architecture")
emulator=qemu-system-$architecture
command -v "$emulator" >/dev/null || { echo "run.sh: there is no $emulator" >&2; exit 77; }
case $architecture in
  x86_64) console=ttyS0 board=() own_processor="host,-arch-capabilities" emulated=max ;;
  aarch64) console=ttyAMA0 board=(-M virt) own_processor=host emulated=cortex-a72 ;;
esac

computer=("${board[@]}" -smp 2 -m 256 -nographic -no-reboot -nodefaults -serial stdio -kernel "$folder/vmlinuz" -initrd "$folder/initramfs")
# The processor's own virtual machines, if one with no job to do ends at once; where this is itself one, that may fail.
processor=(-accel kvm -cpu "$own_processor")
rm -f "$folder/probe.log" "$folder"/machine*.log
if [[ -w /dev/kvm && $architecture == $(uname -m) ]]; then
  timeout 10 "$emulator" "${processor[@]}" "${computer[@]}" -append "console=$console quiet panic=-1" \
    </dev/null >"$folder/probe.log" 2>&1 || true
fi
patience=
if ! grep -qs 'image: ' "$folder/probe.log"; then
  processor=(-accel "tcg,thread=multi" -cpu "$emulated")
  patience='weft.join-timeout=600000 '  # a minute may be too short there
fi

hosts=$(for ((i = 0; i < machines; ++i)); do echo "10.77.0.$((i + 1))"; done | paste -sd ,)
group=230.77.$((RANDOM % 256)).$((RANDOM % 254 + 1)):$((20000 + RANDOM % 20000))  # on this machine's loopback alone
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT

boot() {
  local machine=$1
  exec "$emulator" "${processor[@]}" "${computer[@]}" \
    -netdev "socket,id=net,mcast=$group,localaddr=127.0.0.1" \
    -device "virtio-net-pci,netdev=net,mac=52:54:00:77:00:$(printf %02x $((machine + 1))),romfile=" \
    -append "console=$console quiet panic=-1 weft.hosts=$hosts weft.secret=/secret weft.ranks-per-process=2 \
${patience}image.address=10.77.0.$((machine + 1))/24 -- ${solver[*]}" </dev/null >"$folder/machine$machine.log" 2>&1
}
for ((machine = 0; machine < machines; ++machine)); do
  if ((machine == late)); then
    (sleep "$late_by" && boot "$machine") &
  else
    boot "$machine" &
  fi
  pids[machine]=$!
done
if ((killed >= 0)); then
  until grep -qs 'first all-reduce' "$folder/machine0.log"; do
    kill -0 "${pids[0]}" || exit 1
    sleep 0.2
  done
  sleep "$killed_after"
  kill -KILL "${pids[killed]}"
fi
for ((machine = 0; machine < machines; ++machine)); do wait "${pids[machine]}" 2>/dev/null || true; done

status=0
for ((machine = 0; machine < machines; ++machine)); do
  tr -d '\r' <"$folder/machine$machine.log" | sed "s/^/machine $machine: /"
  wanted="image: the solver ended with status $((killed >= 0 ? 1 : 0))"
  ((machine == killed)) || grep -q "$wanted" "$folder/machine$machine.log" || status=1
done
exit $status

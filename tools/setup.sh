# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that set a machine up and build weft. Not a program.
#
#   install_packages                 install the Debian packages that are missing
#   configure BUILD_DIR [OPTION...]  configure with these Meson options, if that has not been done yet
#   build BUILD_DIR [TARGET...]      build what has changed; everything, or these targets
#
#   aarch64_sysroot DIR              what weft needs for aarch64, unpacked into DIR, with a Meson cross file
#   start_aarch64_programs           have the kernel start programs for aarch64 by the emulator, whoever starts them
#
# With CI=true warnings are errors. $weft_source is the top folder of the source.

weft_source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

weft_libraries=(
  libfabric-dev libhwloc-dev libboost-context-dev libhwy-dev nettle-dev
  catch2 libcli11-dev nlohmann-json3-dev libdw-dev
)
weft_packages=(g++ meson ninja-build pkgconf "${weft_libraries[@]}")

# Launchers that jobs of tests are started by, a browser, a debugger, CMake, what weft for Python needs, and emulated
# machines; what needs one that is not there is skipped.
test_packages=(mpich openmpi-bin libpmix-dev slurmctld slurmd slurm-client libslurm-dev munge iproute2 chromium gdb cmake
  python3-cffi python3-numpy python3-setuptools python3-venv python3-pip qemu-system-x86 cpio kmod xz-utils)

# libFuzzer, which is Clang's.
fuzz_packages=(clang libclang-rt-dev)

aarch64_packages=(g++-aarch64-linux-gnu qemu-user-binfmt)

# Configures with CC=clang CXX=clang++ what feeds random bytes to the parsers. Warnings are those of GCC. Kernels read
# nothing from outside: they are compiled for one instruction set.
fuzz_options=(-Dfuzz=true -Dwerror=false -Doptimization=1 -Ddebug=true -Db_ndebug=false
  -Db_sanitize=address,undefined -Db_lundef=false "-Dcpp_args=-g1 -DHWY_COMPILE_ONLY_STATIC")

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

install_packages() {
  local package missing=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "weft: no Debian here: going on without installing; needed are what Debian calls ${weft_packages[*]}" >&2
    return 0
  fi
  for package in "${weft_packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    echo "weft: packages are missing, and there is neither root nor sudo to install them. As root:" >&2
    echo "  apt-get update && apt-get install ${missing[*]}" >&2
    return 1
  fi
  echo "weft: installing ${missing[*]}$( ((EUID)) && echo " (by sudo)")"
  local apt=(as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update || echo "weft: apt-get update failed; trying with the package lists that are there" >&2
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" || {
    echo "weft: these packages could not be installed: ${missing[*]}" >&2
    return 1
  }
}

configure() {
  local build=$1 werror=false command=(meson setup)
  shift
  [[ ${CI:-} == true ]] && werror=true
  local options=(-Dwerror="$werror" "$@")
  # What it was configured with: asking Meson takes longer than building nothing.
  local record="$build/weft-options"
  if [[ -e $build/build.ninja && -e $record && $(<"$record") == "${options[*]}" ]]; then return 0; fi
  [[ -e $build/meson-private/coredata.dat ]] && command+=(--reconfigure)
  "${command[@]}" "$build" "$weft_source" "${options[@]}" || return 1
  echo "${options[*]}" >"$record"
}

build() {
  local build=$1
  shift
  ninja -C "$build" "$@"
}

# foreign_apt FOLDER ARCHITECTURE apt-get|apt-cache [ARGUMENT...]: for that architecture, from where this machine's packages
# come from, with lists in FOLDER/apt: the system's package manager does not get to know of it, nor what is installed here.
foreign_apt() {
  local lists=$1/apt architecture=$2 tool=$3
  shift 3
  mkdir -p "$lists"/{lists,cache/archives}/partial && touch "$lists/status" || return 1
  "$tool" -q -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o Dir::State="$lists" \
    -o Dir::State::status="$lists/status" -o Dir::Cache="$lists/cache" -o APT::Sandbox::User= "$@"
}

# With all that they depend on, the C library too.
aarch64_sysroot() {
  local root package
  [[ -e $1/cross.ini ]] && return 0
  mkdir -p "$1" && root=$(cd "$1" && pwd) || return 1
  foreign_apt "$root" arm64 apt-get update &&
    foreign_apt "$root" arm64 apt-get install -y --download-only --no-install-recommends "${weft_libraries[@]}" || return 1
  for package in "$root"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$root" || return 1; done
  rm -r "$root/apt"
  local ccache=
  command -v ccache >/dev/null && ccache="'ccache', "
  cat >"$1/cross.ini" <<END
[binaries]
c = [$ccache'aarch64-linux-gnu-gcc', '--sysroot=$root']
cpp = [$ccache'aarch64-linux-gnu-g++', '--sysroot=$root']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '$root']
[properties]
sys_root = '$root'
pkg_config_libdir = ['$root/usr/lib/aarch64-linux-gnu/pkgconfig', '$root/usr/share/pkgconfig']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
}

start_aarch64_programs() {
  local formats=/proc/sys/fs/binfmt_misc
  [[ -e $formats/qemu-aarch64 ]] && return 0
  # Where systemd runs it has done so.
  [[ -e $formats/register ]] || as_root mount -t binfmt_misc binfmt_misc $formats
  as_root tee $formats/register </usr/lib/binfmt.d/qemu-aarch64.conf >/dev/null && [[ -e $formats/qemu-aarch64 ]] && return 0
  echo "weft: this kernel starts no programs for aarch64, as it does where qemu-user-binfmt is registered in $formats" >&2
  return 1
}

# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that set a machine up and build weft. Not a program.
#
#   install_packages                 install the Debian packages that are missing
#   configure BUILD_DIR [OPTION...]  configure with these Meson options, if that has not been done yet
#   build BUILD_DIR [TARGET...]      build what has changed; everything, or these targets
#
#   aarch64_sysroot DIR              what the kernels need for aarch64, unpacked into DIR, with a Meson cross file
#
# With CI=true warnings are errors. $weft_source is the top folder of the source.

weft_source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

weft_packages=(
  g++ meson ninja-build pkgconf
  libfabric-dev libhwloc-dev libboost-context-dev libhwy-dev nettle-dev
  catch2 libcli11-dev nlohmann-json3-dev libdw-dev
)

# Launchers that jobs of tests are started by, a browser, a debugger, CMake, what weft for Python needs, and emulated
# machines; what needs one that is not there is skipped.
test_packages=(mpich openmpi-bin libpmix-dev slurmctld slurmd slurm-client libslurm-dev munge iproute2 chromium gdb cmake
  python3-cffi python3-numpy python3-setuptools python3-venv python3-pip qemu-system-x86 cpio kmod xz-utils)

# libFuzzer, which is Clang's.
fuzz_packages=(clang libclang-rt-dev)

aarch64_packages=(g++-aarch64-linux-gnu qemu-user)

# Configures with CC=clang CXX=clang++ what feeds random bytes to the parsers. Warnings are those of GCC. Kernels read
# nothing from outside: they are compiled for one instruction set.
fuzz_options=(-Dfuzz=true -Dwerror=false -Doptimization=1 -Ddebug=true -Db_ndebug=false
  -Db_sanitize=address,undefined -Db_lundef=false "-Dcpp_args=-g1 -DHWY_COMPILE_ONLY_STATIC")

install_packages() {
  local package missing=() as_root=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "weft: no Debian here: going on without installing; needed are what Debian calls ${weft_packages[*]}" >&2
    return 0
  fi
  for package in "${weft_packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "weft: packages are missing, and there is neither root nor sudo to install them. As root:" >&2
      echo "  apt-get update && apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "weft: installing ${missing[*]}${as_root:+ (by sudo)}"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${as_root[@]}" update || echo "weft: apt-get update failed; trying with the package lists that are there" >&2
  "${as_root[@]}" install -y --no-install-recommends "${missing[@]}" || {
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

# Debian's packages for arm64, which the system's package manager does not get to know of.
aarch64_sysroot() {
  local root highway
  [[ -e $1/cross.ini ]] && return 0
  mkdir -p "$1/apt/lists/partial" "$1/apt/cache/archives/partial" && root=$(cd "$1" && pwd) || return 1
  local options=(-q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$root/apt"
    -o Dir::State::status=/dev/null -o Dir::Cache="$root/apt/cache" -o APT::Sandbox::User=)
  apt-get "${options[@]}" update &&
    highway=$(apt-cache "${options[@]}" depends libhwy-dev | sed -n 's/^ *Depends: \(libhwy1.*\)/\1/p') &&
    (cd "$root/apt" && apt-get "${options[@]}" download libhwy-dev "$highway" catch2) || return 1
  local package
  for package in "$root"/apt/*.deb; do dpkg-deb -x "$package" "$root" || return 1; done
  local libraries=$root/usr/lib/aarch64-linux-gnu
  cat >"$1/cross.ini" <<END
[binaries]
cpp = 'aarch64-linux-gnu-g++'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu', '-E', 'LD_LIBRARY_PATH=$libraries']
[properties]
sys_root = '$root'
pkg_config_libdir = ['$libraries/pkgconfig', '$root/usr/share/pkgconfig']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
}

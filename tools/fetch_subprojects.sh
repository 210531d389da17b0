#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the archives of the libraries that weft can be built with (subprojects/*.wrap), as far as they are missing,
# from where this machine's packages of Debian come from. Meson fetches them by itself where it reaches the addresses in
# the wraps.
#   fetch_subprojects.sh [FOLDER]
# FOLDER gets them; without it subprojects/packagecache, where Meson looks for them.
set -uo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "${1:-$source/subprojects/packagecache}"
archives=$(cd "${1:-$source/subprojects/packagecache}" && pwd)
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

missing() {
  sed -n 's/^source_filename = //p' "$source"/subprojects/*.wrap | while read -r name; do
    [[ -e $archives/$name ]] || echo "$name"
  done
}

# fetch RELEASE: what is missing, as far as that release of Debian has it, with package lists that the system does not
# get to know of.
fetch() {
  local root=$scratch/$1 archive package version codename
  local options=(-q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$root/parts" -o Dir::State="$root/state"
    -o Dir::Cache="$root/cache" -o APT::Sandbox::User= -o Acquire::Languages=none)
  mkdir -p "$root"/{parts,state/lists/partial,cache/archives/partial}
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
  [[ ! -e /etc/apt/sources.list.d/debian.sources ]] ||
    sed -E "s/^Types:.*/Types: deb-src/; s/\b$codename\b/$1/g" /etc/apt/sources.list.d/debian.sources >"$root/parts/here.sources"
  [[ ! -e /etc/apt/sources.list ]] ||
    sed -nE "s/\b$codename\b/$1/g; s/^deb (.*debian)/deb-src \1/p" /etc/apt/sources.list >"$root/parts/here.list"
  apt-get "${options[@]}" update || return
  for archive in $(missing); do
    package=${archive%%_*} version=${archive#*_}
    version=$(apt-cache "${options[@]}" showsrc "$package" | sed -n "s/^Version: \(${version%.orig.*}-.*\)/\1/p" | tail -n 1)
    # Some of a package's files may be missing where this one is not.
    [[ -z $version ]] || (cd "$archives" && apt-get "${options[@]}" source --download-only "$package=$version")
  done
}

if command -v apt-get >/dev/null && command -v apt-cache >/dev/null; then
  for release in bookworm trixie; do [[ -z $(missing) ]] || fetch $release; done
fi
[[ -z $(missing) ]] || { echo "neither in $archives nor to be fetched: $(missing | paste -sd ' ')"; exit 1; }

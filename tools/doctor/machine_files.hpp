// SPDX-License-Identifier: Apache-2.0
// What the files of /proc and /sys say of this machine. `root` is what these are below: "/", or in tests a folder with
// files that were made up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "finding.hpp"

namespace weft::tools {

using std::filesystem::path;

/// Whether /dev/shm is there and has room: libfabric's shm and other runtimes need it, weft itself does not.
finding check_shm(const path& root);

/// Reading each other's memory was tried; `refusal` is empty where it went. Says what forbids it.
finding check_reading(const path& root, const std::string& refusal);

/// A filter of system calls; `refused` says that something that weft needs was refused.
finding check_seccomp(const path& root, bool refused);

/// The processor time that the cgroups of this process leave it, against `cpus` that a job is to use.
finding check_cpu_quota(const path& root, int cpus);

/// The memory that they leave it, against what node memory takes for a process on each of `cpus`.
finding check_memory_quota(const path& root, int cpus, std::uint64_t bytes_each);

finding check_clock(const path& root);
finding check_governor(const path& root);
finding check_smt(const path& root);

}  // namespace weft::tools

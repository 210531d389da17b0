// SPDX-License-Identifier: Apache-2.0
// What a PMIx server says of a job, and what processes give each other through it, as calls of its library return it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>
#include <weft/runtime/launch.hpp>

#include "pmix_library.hpp"

namespace weft {

struct job_said {
  int processes = -1;               ///< -1: it does not say, or what it says is no count
  std::optional<node_place> place;  ///< where it says it of this process, and it can be
};

/// What the launcher said of the job when it started it.
job_said read_job_said(const pmix_library& library, const pmix_proc_t& self);

struct pmix_records {
  pmix_status_t status;
  std::vector<std::vector<std::byte>> all;  ///< of each process, where that is PMIX_SUCCESS
};

/// Puts `mine` under `key`, and returns what each of `processes` has put.
pmix_records exchange_by(const pmix_library& library, const pmix_proc_t& self, int processes, const std::string& key,
                         std::vector<std::byte> mine);

}  // namespace weft

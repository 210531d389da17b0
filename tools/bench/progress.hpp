// SPDX-License-Identifier: Apache-2.0
// The measurements that are about who makes progress: `weft bench overlap` and `weft bench consistency`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <weft/communicator.hpp>
#include <weft/noise/interference.hpp>
#include <weft/process/membership.hpp>

#include "layout.hpp"
#include "settings.hpp"

namespace weft::tools {

/// Whether that is one of them.
bool measures_progress(const std::string& collective);

/// One of them in this process: made, in the thread that is to run ranks, before the process joins its job.
class progress_bench {
 public:
  /// Binds this thread, and the progress thread that `member` will have if `settings` says so, as lay_out says. In
  /// process 0 it begins the noise that is wanted. `settings` must outlive this. Throws std::runtime_error where there
  /// are too few cores, or where noise is not permitted.
  progress_bench(const bench_settings& settings, detail::membership& member);

  /// Measures, and prints on rank 0. Collective; returns how many results were wrong, on every rank the same.
  std::int64_t run(communicator& world) const;

 private:
  std::int64_t overlap(communicator& world) const;
  std::int64_t consistency(communicator& world) const;
  /// Of the first line of a table, or within each object of JSON.
  std::string heading(int ranks) const;
  std::string json_heading(communicator& world) const;

  const bench_settings& settings_;
  std::string provider_;
  bool threaded_;
  int processes_;
  core_layout layout_;
  std::optional<interference> noise_;
};

}  // namespace weft::tools

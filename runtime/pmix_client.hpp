// SPDX-License-Identifier: Apache-2.0
// One process's dealings with the PMIx server of its launcher.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>
#include <weft/runtime/launch.hpp>

#include "pmix_library.hpp"

namespace weft {

/// Every call but `abort_at_exit` blocks until the server has answered, and throws errc::timed_out at the deadline,
/// errc::protocol for a refusal; no call can follow either.
class pmix_client {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using bytes = std::vector<std::byte>;

  /// Connects to the server. Throws errc::no_rendezvous when that is not to be had: there is no library, or nobody who
  /// answers before the deadline.
  pmix_client(const pmix_environment& started, time_point deadline);

  int process() const noexcept { return static_cast<int>(self_.rank); }
  int processes() const noexcept { return processes_; }
  /// Where the launcher says that this process is; nothing when it does not.
  std::optional<node_place> place() const noexcept { return place_; }
  /// "the launcher's PMIx (PMIX_NAMESPACE=prte-1)"
  const std::string& name() const noexcept { return name_; }
  /// "PMIx 4.2.2"
  std::string version() const;

  /// What each process has given under `key`, in their order, by a fence that gathers. All of them call it, once for
  /// a key.
  std::vector<bytes> exchange(const std::string& key, bytes mine, time_point deadline);
  /// Says that this process needs the server no more: it may end, with any status, without that being a failure.
  void finalize(time_point deadline);
  /// This process has failed. When it ends, the server is asked to end the job with its status; not before, since that
  /// would end this one too, before it has said what went wrong.
  void abort_at_exit() noexcept;

 private:
  template <typename Call>
  void ask(const char* what, time_point deadline, Call call);
  void read_job(time_point deadline);

  std::string name_;
  const pmix_library* library_ = nullptr;
  pmix_proc_t self_{};
  int processes_ = 1;
  std::optional<node_place> place_;
  bool usable_ = true;  ///< no call is under way that was given up, and none was refused
};

}  // namespace weft

// SPDX-License-Identifier: Apache-2.0
// A job's rendezvous that is served beside other work.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <weft/runtime/socket.hpp>
#include <weft/runtime/tcp_store.hpp>
#include <weft/runtime/thread.hpp>

namespace weft {

/// When those that have not joined count as lost, and what is said of them: "has not come".
struct absence {
  store::clock::time_point from;
  std::function<std::string(int process)> text;
};

/// Serves in a thread of its own, which takes no signals, until it is destroyed.
class rendezvous_thread {
 public:
  /// Throws system errors.
  explicit rendezvous_thread(tcp_store_server server, std::optional<absence> limit = {});
  ~rendezvous_thread();
  rendezvous_thread(const rendezvous_thread&) = delete;
  rendezvous_thread& operator=(const rendezvous_thread&) = delete;

 private:
  void serve() noexcept;
  void miss_absent();

  tcp_store_server server_;
  std::optional<absence> limit_;
  file_descriptor stop_;
  thread thread_;
};

}  // namespace weft

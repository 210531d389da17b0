// SPDX-License-Identifier: Apache-2.0
// The rendezvous that a launcher serves over TCP. A process proves that it knows the job's secret before anything else
// is read from it, and the launcher proves the same to the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
#include <weft/runtime/error.hpp>
#include <weft/runtime/socket.hpp>
#include <weft/runtime/store.hpp>

namespace weft {

/// What identifies a job to its rendezvous.
struct store_job {
  std::uint64_t number = 0;  ///< told apart from other jobs by it
  int processes = 1;
  std::string secret;  ///< at least 128 bits, as any text
};

/// The table's server: non-blocking, for whoever has an event loop. Not thread-safe: one thread calls it.
class tcp_store_server {
 public:
  /// Listens on `host`, a numeric address. Throws errc::invalid_argument for a secret that is too short, and for
  /// system calls that fail.
  explicit tcp_store_server(store_job job, const std::string& host = "127.0.0.1");
  /// Takes over a socket that listens. Nobody else sees processes end: one whose connection ends is lost.
  tcp_store_server(store_job job, file_descriptor listener);
  tcp_store_server(tcp_store_server&&) noexcept;
  tcp_store_server& operator=(tcp_store_server&&) noexcept;
  ~tcp_store_server();

  /// What processes connect to.
  const std::string& address() const noexcept;

  /// Listens on another of this machine's addresses, too, and returns what those connect to who reach it there.
  std::string listen(const std::string& host);

  /// A descriptor that is readable whenever `serve` has something to do.
  int descriptor() const noexcept;

  /// Does what can be done without waiting. A connection that has not proved within a second that it belongs to the
  /// job, and one that breaks the protocol, is closed; neither disturbs others.
  void serve();

  /// Tells those who wait for process `process` that it died, and all who ask by "lost/PROCESS", whose value becomes
  /// `how`.
  void lose(int process, std::string_view how);

  /// Tells those who wait for process `process` that it ended, as it should, and will not come any more.
  void leave(int process);

  /// Tells those who wait for process `process` that it "WHY".
  void miss(int process, std::string_view why);

  /// The processes that have not joined.
  std::vector<int> absent() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// errc::no_rendezvous, where nobody answered who may yet come.
class rendezvous_unreached final : public error {
 public:
  using error::error;
};

/// Joins the job as process `process`. Throws errc::no_rendezvous when nobody answers as this job's rendezvous before
/// the deadline (rendezvous_unreached) or it refuses, and errc::incompatible when it is another build.
std::unique_ptr<store> connect_tcp_store(const std::string& address, const store_job& job, int process,
                                         store::clock::time_point deadline);
/// The same over a socket that is connected.
std::unique_ptr<store> connect_tcp_store(file_descriptor socket, const store_job& job, int process,
                                         store::clock::time_point deadline);

/// Tells the job's rendezvous, without being a process of the job, how its process `process` died; `how` is empty for
/// one that ended as it should. Blocks until that is known there. Throws as connect_tcp_store does.
void report_end(const std::string& address, const store_job& job, int process, std::string_view how,
                store::clock::time_point deadline);

}  // namespace weft

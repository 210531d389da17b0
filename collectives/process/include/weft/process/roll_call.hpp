// SPDX-License-Identifier: Apache-2.0
// What a process says of its ranks to whoever asks: in what calls they are, and since when.
#pragma once

#include <sys/types.h>

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <weft/process/kept_threads.hpp>
#include <weft/runtime/fiber.hpp>
#include <weft/runtime/socket.hpp>
#include <weft/runtime/thread.hpp>
#include <weft/statistics.hpp>

namespace weft::detail {

class started_calls;

/// A rank in one of its communicators, as the roll lists it.
class roll_entry : public boost::intrusive::list_base_hook<> {
 public:
  /// The rank's number in the job.
  virtual int job_rank() const noexcept = 0;
  /// The communicator's number, the rank's there, and how many collectives it has begun there. Any thread.
  struct standing {
    std::uint64_t communicator = 0;
    int rank = 0;
    std::uint32_t begun = 0;
  };
  virtual standing where() const noexcept = 0;
  /// Changes whenever the rank begins or ends something there. Any thread.
  virtual std::uint64_t moves() const noexcept = 0;
  /// Adds the calls of collectives that the rank has made there. Any thread.
  virtual void add_calls(statistics& sum) const noexcept = 0;
  /// Adds its lines. `on_stack` says whether an address is on a stack that the rank runs on. Any thread; waits for the
  /// messenger's token for no longer than `longest`: false where it was not to be had.
  virtual bool describe(std::string& to, const std::function<bool(const void*)>& on_stack,
                        std::chrono::nanoseconds longest) const = 0;

 protected:
  roll_entry() = default;
  ~roll_entry() = default;
};

/// Listens on an abstract Unix socket, "weft-UID-JOB-PROCESS-PID", and writes the roll to
/// whoever of the same user, or root, connects: lines of a word and KEY=VALUE behind it, as tools/roll_call/report.hpp
/// reads them. A thread of its own does so, which looks at the moves of all ranks once a second beside that: so nobody
/// else has to look at a clock. Where there can be no socket or no thread nobody can ask, and nothing looks.
///
/// A rank that keeps its thread for a second from others which could run is warned of on stderr. Who has started the
/// process is told by a connection to his socket, so that he can look at the stack, which this process does not.
class roll_call {
 public:
  /// `desk`: the name of that socket; empty: there is none.
  roll_call(std::uint64_t job, int process, int processes, std::string desk = {});
  roll_call(const roll_call&) = delete;
  roll_call& operator=(const roll_call&) = delete;
  /// No entry may be left. Blocks while somebody is told, for a second at most.
  ~roll_call();

  /// What the process does beside its ranks: a constant.
  void say(const char* phase);
  /// The ranks of the process: from now on it has joined its job.
  void set_ranks(int first, int count);
  /// Whose stacks are listed, too; they have to outlive this.
  void set_calls(const started_calls& calls);
  /// An entry has to be taken back before it ends; only whoever asks may hold that up.
  void add(roll_entry& entry);
  void take_back(roll_entry& entry) noexcept;
  /// The ranks of this process in that communicator that have begun fewer collectives there, ascending. Any thread.
  std::vector<int> behind(std::uint64_t communicator, std::uint32_t begun);
  /// Adds the calls of all entries, and of those that have been taken back.
  void add_calls(statistics& sum) noexcept;

  /// While one lives its thread, or the fiber that it is made in, is that of a rank: the `local`th of the process.
  class seat {
   public:
    seat(roll_call& of, int local);
    seat(const seat&) = delete;
    seat& operator=(const seat&) = delete;
    ~seat();

   private:
    roll_call& of_;
    int local_;
    const scheduler* thread_ = nullptr;
  };

 private:
  using time_point = std::chrono::steady_clock::time_point;
  struct seated_rank {
    pid_t thread = 0;
    weft::fiber::whereabouts on;
    const scheduler* by = nullptr;         ///< of the fiber
    std::uint64_t moves = 0, counted = 0;  ///< at the last look, and so far in this one
    time_point since{};
  };

  bool listen();
  void serve() noexcept;
  /// What is to be said of threads that are kept; nothing mostly.
  std::string look();
  std::string warn_of(const kept_threads::kept& which) const;
  void tell_desk() const noexcept;
  void answer(file_descriptor asking);
  std::string describe();
  void describe(std::string& to, std::size_t local, std::string_view main_stack,
                std::span<const roll_entry* const> entries, std::chrono::nanoseconds& patience);
  std::size_t local_of(const roll_entry& entry) const noexcept {
    return static_cast<std::size_t>(entry.job_rank() - first_rank_);
  }

  const std::uint64_t job_;
  const int process_, processes_;
  const std::string desk_;
  const std::chrono::system_clock::time_point begun_ = std::chrono::system_clock::now();
  file_descriptor listener_;
  file_descriptor stop_;  // readable: the thread is to end
  std::mutex lock_;       // guards the next ones, and that entries in the list live
  const char* phase_ = "joins the job";
  int first_rank_ = 0;
  const started_calls* calls_ = nullptr;
  std::vector<seated_rank> ranks_;
  kept_threads kept_;
  boost::intrusive::list<roll_entry> entries_;
  statistics left_;  ///< the calls of those that have been taken back
  thread thread_;
};

}  // namespace weft::detail

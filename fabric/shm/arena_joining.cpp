// SPDX-License-Identifier: Apache-2.0
// How the processes of a node come to share memory.
//
//   first:   make it and the heaps      for each: pass both ...          hear of all -> verdict to all
//   others:  connect, say who they are  map them, reserve their areas -> say how that went      verdict
//
// Whatever goes wrong on one of them, the first says no to all; one that hears nothing more from it has its no as well.
// Where only the heaps are not to be had, or one of them cannot map them, all go without heaps.
#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <weft/fabric/arena.hpp>
#include <weft/fabric/process_memory.hpp>
#include <weft/runtime/error.hpp>

#include "arena_note.hpp"
#include "descriptor_passing.hpp"
#include "heap_space.hpp"
#include "shared_memory.hpp"

namespace weft::fabric {
namespace {

/// How often who waits looks up.
constexpr std::chrono::milliseconds look_up{20};

/// The others are on this machine and about to come: who has not by then cannot.
constexpr std::chrono::seconds patience{10};

}  // namespace

class arena::joining {
 public:
  joining(std::span<const int> processes, int self, std::span<const process_record> records, std::uint64_t job,
          clock::time_point deadline, const std::function<void()>& interrupted)
      : processes_(processes.begin(), processes.end()),
        self_(self),
        records_(records),
        job_(job),
        deadline_(std::min(deadline, steady_clock_source().now() + patience)),
        interrupted_(interrupted),
        index_(static_cast<std::size_t>(std::ranges::lower_bound(processes_, self) - processes_.begin())),
        size_(all_bytes(processes_.size())),
        probe_(record(self).incarnation) {}

  /// Why these cannot meet at all, as each of them sees by itself.
  std::string obstacle() const {
    for (const int each : processes_) {
      if (record(each).door < 0) return "process " + std::to_string(each) + " has no socket for it";
      if (!record(each).host.shares_pids_with(record(processes_[0]).host))
        return "process " + std::to_string(each) + " is in another PID namespace than process " +
               std::to_string(processes_[0]);
    }
    return "";
  }

  joined lead(const nameless_listener& door) {
    file_descriptor memory;
    joined result;
    try {
      memory = make_shared_memory(size_);
      result.memory = take_part(memory);
      heaps_ = make_heaps(*result.memory);
    } catch (const error& failed) {
      result.refusal = failed.what();
    }
    meet(door, memory, result.refusal);
    for (std::size_t i = 1; i < processes_.size(); ++i) hear(i, result.refusal);
    tell_all(result.refusal);
    if (!result.refusal.empty()) result.memory.reset();
    if (result.memory != nullptr) {
      if (!heaps_) result.memory->heap_.reset();
      result.memory->reading_refusal_ = reading_refusal_;
      result.memory->file_ = std::move(memory);
    }
    return result;
  }

  joined follow() {
    joined result;
    try {
      const int first = processes_[0];
      const auto to_first = connect_to_listener(record(first).pid, record(first).door);
      arena_note mine = say(first);
      if (!send_note(to_first, mine)) throw error(errc::protocol, "the first process does not listen");
      file_descriptor memory, heaps;
      try_to_read(first, await(to_first, &memory).probe);
      await(to_first, &heaps);
      if (!reading_refusal_.empty()) write_reason(mine, mine.reads, reading_refusal_);
      try {
        check_shared_memory(memory, size_);
        result.memory = take_part(memory);
        if (heaps) map_heaps(*result.memory, std::move(heaps));
        mine.heaps = result.memory->heap_ != nullptr ? 1 : 0;
      } catch (const error& failed) {
        write_reason(mine, mine.good, failed.what());
      }
      send_note(to_first, mine);
      const arena_note verdict = await(to_first);
      if (verdict.heaps == 0) result.memory->heap_.reset();
      if (verdict.reads == 0) result.memory->reading_refusal_ = verdict.reason.data();
      result.memory->file_ = std::move(memory);
    } catch (const error& failed) {
      if (failed.code() == errc::peer_lost) throw;
      result.memory.reset();
      result.refusal = failed.what();
    }
    return result;
  }

 private:
  const process_record& record(int process) const { return records_[static_cast<std::size_t>(process)]; }

  arena_note say(int to) const {
    arena_note mine{job_, self_, record(self_).incarnation, record(to).incarnation};
    mine.probe = reinterpret_cast<std::uintptr_t>(&probe_);
    return mine;
  }

  /// Whether process `other`'s memory can be read: what may differ between processes of one user is who has given away
  /// what, so everybody and the first try each other.
  void try_to_read(int other, std::uint64_t probe) {
    std::uint32_t found = 0;
    const auto failed = read_process_memory(record(other).pid, probe, std::as_writable_bytes(std::span(&found, 1)));
    if (failed)
      reading_refusal_ = "process " + std::to_string(self_) + " reads process " + std::to_string(other) +
                         ": process_vm_readv: " + failed.message();
    else if (found != record(other).incarnation)
      reading_refusal_ = "process " + std::to_string(other) + " is not the one that its number says";
  }

  /// Reserves and makes this process's area.
  std::unique_ptr<arena> take_part(const file_descriptor& memory) {
    const std::size_t bytes = area_bytes(processes_.size());
    reserve_shared_memory(memory, index_ * bytes, bytes);
    return std::unique_ptr<arena>(new arena(processes_, self_, records_, memory));
  }

  /// Makes the heaps, for the others to map: empty where that fails.
  file_descriptor make_heaps(arena& with) {
    try {
      heap_space space = heap_space::make(processes_.size());
      file_descriptor passed(::fcntl(space.memory().get(), F_DUPFD_CLOEXEC, 0));
      if (!passed) throw_system_error(errno, "fcntl", "the memory of the heaps");
      with.heap_ = std::make_shared<arena_heap>(std::move(space), index_);
      return passed;
    } catch (const error& failed) {
      with.heap_refusal_ = failed.what();
      return {};
    }
  }

  void map_heaps(arena& with, file_descriptor heaps) {
    try {
      with.heap_ = std::make_shared<arena_heap>(heap_space(std::move(heaps), processes_.size()), index_);
    } catch (const error& failed) {
      with.heap_refusal_ = "process " + std::to_string(self_) + ": " + failed.what();
    }
  }

  /// Blocks until there is something to read, or to accept. Throws errc::timed_out.
  void wait(const file_descriptor& for_it) {
    const auto until = std::min(deadline_, steady_clock_source().now() + look_up);
    interrupted_();
    if (wait_for(for_it, POLLIN, until)) return;
    if (steady_clock_source().now() >= deadline_) throw error(errc::timed_out, "nothing was heard in time");
  }

  /// The next note of who is there, and the descriptor that came with it. Throws what he refuses with, and where he has
  /// gone.
  arena_note await(const file_descriptor& from, file_descriptor* passed = nullptr) {
    for (;;) {
      wait(from);
      auto heard = receive_note(from);
      if (!heard) continue;
      if (heard->note.good == 0) throw error(errc::operation_failed, heard->note.reason.data());
      if (passed != nullptr) *passed = std::move(heard->passed);
      return heard->note;
    }
  }

  /// Lets the others in and passes them the memory, or the refusal.
  void meet(const nameless_listener& door, const file_descriptor& memory, std::string& refusal) {
    others_.resize(processes_.size());
    std::vector<file_descriptor> unknown;
    for (std::size_t missing = processes_.size() - 1; missing > 0;) {
      try {
        wait(door.socket());
        if (auto connection = accept_own_user(door)) unknown.push_back(std::move(connection));
      } catch (const error& failed) {
        if (failed.code() == errc::peer_lost) throw;
        if (refusal.empty()) refusal = std::string("not all processes came: ") + failed.what();
        return;
      }
      std::erase_if(unknown,
                    [&](file_descriptor& connection) { return introduce(connection, memory, refusal, missing); });
    }
  }

  /// Whether `connection` need not be asked any more: it is one of the node's now, or a stranger's.
  bool introduce(file_descriptor& connection, const file_descriptor& memory, const std::string& refusal,
                 std::size_t& missing) {
    arena_note heard;
    try {
      // Who has connected has something to say; it is as good as here.
      if (!wait_for(connection, POLLIN, steady_clock_source().now() + look_up)) return false;
      const auto received = receive_note(connection);
      if (!received) return false;
      heard = received->note;
    } catch (const error&) {
      return true;
    }
    const auto known = std::ranges::lower_bound(processes_, heard.process);
    if (known == processes_.end() || *known != heard.process || heard.job != job_ ||
        heard.incarnation != record(heard.process).incarnation || heard.addressee != record(self_).incarnation)
      return true;
    file_descriptor& place = others_[static_cast<std::size_t>(known - processes_.begin())];
    if (place) return true;
    arena_note mine = say(heard.process);
    if (!refusal.empty()) write_reason(mine, mine.good, refusal);
    send_note(connection, mine, refusal.empty() ? &memory : nullptr);
    send_note(connection, mine, heaps_ ? &heaps_ : nullptr);
    place = std::move(connection);
    --missing;
    return true;
  }

  /// How process `i` of the node fared.
  void hear(std::size_t i, std::string& refusal) {
    if (!refusal.empty()) return;
    const std::string who = "process " + std::to_string(processes_[i]);
    try {
      const arena_note heard = await(others_[i]);
      if (heard.heaps == 0) heaps_ = file_descriptor();
      if (heard.reads == 0)
        reading_refusal_ = heard.reason.data();
      else if (reading_refusal_.empty())
        try_to_read(processes_[i], heard.probe);
    } catch (const error& failed) {
      if (failed.code() == errc::peer_lost) throw;
      refusal = who + ": " + failed.what();
    }
  }

  void tell_all(const std::string& refusal) {
    for (std::size_t i = 1; i < others_.size(); ++i) {
      if (!others_[i]) continue;
      arena_note verdict = say(processes_[i]);
      if (!reading_refusal_.empty()) write_reason(verdict, verdict.reads, reading_refusal_);
      if (!refusal.empty()) write_reason(verdict, verdict.good, refusal);
      verdict.heaps = heaps_ ? 1 : 0;
      send_note(others_[i], verdict);
    }
  }

  const std::vector<int> processes_;
  const int self_;
  const std::span<const process_record> records_;
  const std::uint64_t job_;
  const clock::time_point deadline_;
  const std::function<void()>& interrupted_;
  const std::size_t index_;  // of this process among those of the node
  const std::size_t size_;
  const std::uint32_t probe_;            // for the others to read
  file_descriptor heaps_;                // of the first process; empty: there are none
  std::string reading_refusal_;          // why one of them cannot read another's memory
  std::vector<file_descriptor> others_;  // by index; empty: has not come
};

arena::joined arena::join(std::span<const int> processes, int self, std::span<const process_record> records,
                          std::uint64_t job, const arena_door& door, clock::time_point deadline,
                          const std::function<void()>& interrupted) {
  joining these(processes, self, records, job, deadline, interrupted);
  if (std::string obstacle = these.obstacle(); !obstacle.empty()) return {nullptr, std::move(obstacle)};
  return self == processes[0] ? these.lead(door.listener()) : these.follow();
}

}  // namespace weft::fabric

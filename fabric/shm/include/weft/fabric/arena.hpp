// SPDX-License-Identifier: Apache-2.0
// The memory that the processes of one node share: its life. What lies in it: arena_board.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>
#include <weft/fabric/arena_board.hpp>
#include <weft/fabric/arena_heap.hpp>
#include <weft/fabric/arena_ring.hpp>
#include <weft/fabric/process_record.hpp>
#include <weft/runtime/clock.hpp>
#include <weft/runtime/socket.hpp>
#include <weft/topology/cpu_set.hpp>

namespace weft::fabric {

class mapping;
class nameless_listener;

/// What a process has the others of its node find before they know that they are of one node. To be made before its
/// record is put into the store.
class arena_door {
 public:
  /// Opens it. Where the system does not let it the door stays shut, and the node goes without an arena.
  arena_door() noexcept;
  ~arena_door();
  /// For the record: by which number others know it; -1 where it is shut.
  int number() const noexcept;
  const nameless_listener& listener() const noexcept { return *listener_; }

 private:
  std::unique_ptr<nameless_listener> listener_;
};

class arena {
 public:
  /// Communicators and plans of one process that may use the arena at a time.
  static constexpr std::size_t boards = 16;
  /// Shared memory for each process of a node of so many from the start, bytes: a multiple of the page.
  static std::size_t area_bytes(std::size_t processes) noexcept;
  /// All the memory of so many, most of which is made only when it is used.
  static std::size_t all_bytes(std::size_t processes) noexcept;

  struct joined {
    std::unique_ptr<arena> memory;  ///< null: none of the node's processes has one
    std::string refusal;            ///< then: why
  };

  /// Makes one memory for the processes of a node. `processes` are their numbers in the job, ascending, this one's
  /// `self` among them; `records` are all the job's. Every one of them calls it, with the same arguments but `self` and
  /// its own door. Blocks until all have, until one of them cannot, or until `deadline`: what comes of it is the same
  /// for all. What `interrupted`, called now and then, throws goes through. `job` keeps other jobs' processes out.
  static joined join(std::span<const int> processes, int self, std::span<const process_record> records,
                     std::uint64_t job, const arena_door& door, clock::time_point deadline,
                     const std::function<void()>& interrupted);

  ~arena();

  /// This process, and those that share it, ascending.
  int self() const noexcept { return self_; }
  std::span<const int> processes() const noexcept { return processes_; }
  /// Whether `process` is one of them.
  bool holds(int process) const noexcept;
  /// A board of a process that is.
  arena_board& board(int process, std::size_t index) const noexcept;
  /// The process number of one that is, in this PID namespace.
  std::int64_t pid(int process) const noexcept;
  /// Why they cannot read each other's memory (process_memory.hpp); empty: they can. The same for all.
  const std::string& reading_refusal() const noexcept { return reading_refusal_; }
  /// How many CPUs they could run on, together, when they joined; 0: that is not known. The same for all.
  int cpus() const;
  /// Whether that is fewer than there are processes.
  bool crowded() const noexcept { return crowded_; }
  /// Those that one of them could run on then.
  const topology::cpu_set& cpus_of(int process) const noexcept { return cpus_[index_of(process)]; }
  /// Shared by all from the start, bytes; without what is in the heaps and rings.
  std::size_t size() const noexcept;

  /// What this process takes is counted there from now on: its area, and its rings, up to what records of so many bytes
  /// need at once, those that become longer then, as far as there is memory to spare; and its heap. Before it takes
  /// any.
  void count_in(const std::shared_ptr<memory_budget>& memory, std::size_t longest_record);

  /// This process's heap, with which it also finds what lies in the others'. Null on all or on none of the processes.
  const std::shared_ptr<arena_heap>& heap() const noexcept { return heap_; }
  /// Then why, on the process that stands in the way.
  const std::string& heap_refusal() const noexcept { return heap_refusal_; }
  /// The number of one of the processes, among them: of its region in the heap.
  std::size_t index_of(int process) const noexcept;

  /// This process's ends of the rings to and from another process of the node; each to be made once. What the first
  /// one writes throws a system error where there is no memory for it.
  arena_ring_writer ring_to(int process) const;
  arena_ring_reader ring_from(int process) const noexcept;

 private:
  class joining;
  /// Makes this process's area, for which there are pages.
  arena(std::vector<int> processes, int self, std::span<const process_record> records, const file_descriptor& memory);

  std::byte* area(int process) const noexcept;
  arena_ring_ends& ends(int process, int other) const noexcept;
  std::size_t ring_offset(int from, int to) const noexcept;
  bool reserve_ring(std::size_t begin, std::size_t offset, std::size_t bytes) const;
  std::unique_ptr<mapping> map_ring(const file_descriptor& memory, int from, int to) const;

  std::vector<int> processes_;
  const int self_;
  std::vector<std::int64_t> pids_;       // of each
  std::vector<topology::cpu_set> cpus_;  // of each
  bool crowded_ = false;
  std::string reading_refusal_;
  file_descriptor file_;
  std::unique_ptr<mapping> areas_;
  std::vector<std::unique_ptr<mapping>> rings_to_, rings_from_;  // this process's, to and from each
  std::shared_ptr<arena_heap> heap_;
  std::string heap_refusal_;
  std::size_t counted_ring_ = 0;  // what of each ring is counted from the start
  mutable memory_charge charge_;  // of area and rings; who has the rings uses it
};

}  // namespace weft::fabric

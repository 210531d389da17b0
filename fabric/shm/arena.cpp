// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <new>
#include <utility>
#include <weft/fabric/arena.hpp>
#include <weft/runtime/error.hpp>

#include "descriptor_passing.hpp"
#include "shared_memory.hpp"

namespace weft::fabric {
namespace {

/// The largest page of the machines that weft runs on, so that areas begin on pages everywhere.
constexpr std::size_t largest_page = 64 << 10;

void write_cpus(arena_cpus& mine) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return;
  const int most = static_cast<int>(std::min<std::size_t>(CPU_SETSIZE, 64 * mine.bits.size()));
  for (int cpu = 0; cpu < most; ++cpu)
    if (CPU_ISSET(cpu, &set))  // relaxed: see arena::cpus()
      mine.bits[static_cast<std::size_t>(cpu) / 64].fetch_or(std::uint64_t{1} << cpu % 64, std::memory_order_relaxed);
}

}  // namespace

arena_door::arena_door() noexcept {
  try {
    listener_ = std::make_unique<nameless_listener>(nameless_listener::open());
  } catch (const std::exception&) {
    listener_.reset();
  }
}

arena_door::~arena_door() = default;

int arena_door::number() const noexcept { return listener_ == nullptr ? -1 : listener_->number(); }

std::size_t arena::area_bytes(std::size_t processes) noexcept {
  const std::size_t used = boards * sizeof(arena_board) + sizeof(arena_cpus) + processes * sizeof(arena_ring_ends);
  return (used + largest_page - 1) / largest_page * largest_page;
}

std::size_t arena::all_bytes(std::size_t processes) noexcept {
  return processes * (area_bytes(processes) + processes * arena_ring_bytes);
}

arena::arena(std::vector<int> processes, int self, std::vector<std::int64_t> pids, const file_descriptor& memory)
    : processes_(std::move(processes)),
      self_(self),
      pids_(std::move(pids)),
      areas_(std::make_unique<mapping>(memory, 0, size())) {
  areas_->dump_only(static_cast<std::size_t>(area(self_) - areas_->data()), area_bytes(processes_.size()));
  for (const int other : processes_) {
    rings_to_.push_back(map_ring(memory, self_, other));
    rings_from_.push_back(map_ring(memory, other, self_));
  }
  std::uninitialized_default_construct_n(reinterpret_cast<arena_board*>(area(self_)), boards);
  write_cpus(*new (area(self_) + boards * sizeof(arena_board)) arena_cpus);
  std::uninitialized_default_construct_n(&ends(self_, processes_[0]), processes_.size());
}

arena::~arena() = default;

bool arena::holds(int process) const noexcept { return std::ranges::binary_search(processes_, process); }

std::size_t arena::index_of(int process) const noexcept {
  return static_cast<std::size_t>(std::ranges::lower_bound(processes_, process) - processes_.begin());
}

std::byte* arena::area(int process) const noexcept {
  return areas_->data() + index_of(process) * area_bytes(processes_.size());
}

arena_board& arena::board(int process, std::size_t index) const noexcept {
  // Its owner has made it: see joining.
  return *std::launder(reinterpret_cast<arena_board*>(area(process)) + index);
}

arena_ring_ends& arena::ends(int process, int other) const noexcept {
  std::byte* const first = area(process) + boards * sizeof(arena_board) + sizeof(arena_cpus);
  return *std::launder(reinterpret_cast<arena_ring_ends*>(first) + index_of(other));  // as board()
}

std::size_t arena::ring_offset(int from, int to) const noexcept {
  const std::size_t all = processes_.size();
  return all * area_bytes(all) + (index_of(from) * all + index_of(to)) * arena_ring_bytes;
}

std::unique_ptr<mapping> arena::map_ring(const file_descriptor& memory, int from, int to) const {
  auto ring = std::make_unique<mapping>(memory, ring_offset(from, to), arena_ring_bytes);
  ring->dump_only(0, 0);
  return ring;
}

arena_ring_writer arena::ring_to(int process) const {
  const std::size_t begin = ring_offset(self_, process);
  return {
      rings_to_[index_of(process)]->data(), ends(self_, process).to, ends(process, self_).from,
      [this, begin](std::size_t offset, std::size_t bytes) { reserve_shared_memory(file_, begin + offset, bytes); }};
}

arena_ring_reader arena::ring_from(int process) const noexcept {
  return {rings_from_[index_of(process)]->data(), ends(process, self_).to, ends(self_, process).from};
}

arena_cpus& arena::told_cpus(int process) const noexcept {
  return *std::launder(reinterpret_cast<arena_cpus*>(area(process) + boards * sizeof(arena_board)));  // as board()
}

std::size_t arena::cpus() const noexcept {
  std::size_t count = 0;
  for (std::size_t word = 0; word < arena_cpus().bits.size(); ++word) {
    std::uint64_t all = 0;
    // relaxed: whoever has joined has heard from every process behind what it wrote there.
    for (const int each : processes_) all |= told_cpus(each).bits[word].load(std::memory_order_relaxed);
    count += static_cast<std::size_t>(std::popcount(all));
  }
  return count;
}

topology::cpu_set arena::cpus_of(int process) const {
  topology::cpu_set found;
  const auto& bits = told_cpus(process).bits;
  for (std::size_t cpu = 0; cpu < 64 * bits.size(); ++cpu)  // relaxed: as in cpus()
    if ((bits[cpu / 64].load(std::memory_order_relaxed) >> cpu % 64 & 1) != 0) found.insert(static_cast<int>(cpu));
  return found;
}

std::int64_t arena::pid(int process) const noexcept { return pids_[index_of(process)]; }

std::size_t arena::size() const noexcept { return processes_.size() * area_bytes(processes_.size()); }

}  // namespace weft::fabric

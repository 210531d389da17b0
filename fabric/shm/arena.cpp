// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
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
  const std::size_t used = boards * sizeof(arena_board) + processes * sizeof(arena_ring_ends);
  return (used + largest_page - 1) / largest_page * largest_page;
}

std::size_t arena::all_bytes(std::size_t processes) noexcept {
  return processes * (area_bytes(processes) + processes * arena_ring_bytes);
}

arena::arena(std::vector<int> processes, int self, std::span<const process_record> records,
             const file_descriptor& memory)
    : processes_(std::move(processes)), self_(self), areas_(std::make_unique<mapping>(memory, 0, size())) {
  for (const int each : processes_) {
    pids_.push_back(records[static_cast<std::size_t>(each)].pid);
    cpus_.push_back(records[static_cast<std::size_t>(each)].cpus);
  }
  crowded_ = std::ssize(processes_) > cpus();
  areas_->dump_only(static_cast<std::size_t>(area(self_) - areas_->data()), area_bytes(processes_.size()));
  for (const int other : processes_) {
    rings_to_.push_back(map_ring(memory, self_, other));
    rings_from_.push_back(map_ring(memory, other, self_));
  }
  std::uninitialized_default_construct_n(reinterpret_cast<arena_board*>(area(self_)), boards);
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
  std::byte* const first = area(process) + boards * sizeof(arena_board);
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

void arena::count_in(const std::shared_ptr<memory_budget>& memory, std::size_t longest_record) {
  counted_ring_ = arena_ring_writer::least_bytes(longest_record);
  const std::size_t others = processes_.size() - 1;
  charge_ =
      memory_charge(memory, area_bytes(processes_.size()) + others * counted_ring_, "the node's boards and rings");
  if (heap_ != nullptr) heap_->count_in(memory);
}

bool arena::reserve_ring(std::size_t begin, std::size_t offset, std::size_t bytes) const {
  const std::size_t more = offset < counted_ring_ ? 0 : bytes;
  if (more != 0 && !charge_.try_grow(more, memory_use::spare)) return false;
  try {
    reserve_shared_memory(file_, begin + offset, bytes);
  } catch (...) {
    charge_.shrink(more);
    throw;
  }
  return true;
}

arena_ring_writer arena::ring_to(int process) const {
  const std::size_t begin = ring_offset(self_, process);
  return {rings_to_[index_of(process)]->data(), ends(self_, process).to, ends(process, self_).from,
          [this, begin](std::size_t offset, std::size_t bytes) { return reserve_ring(begin, offset, bytes); }};
}

arena_ring_reader arena::ring_from(int process) const noexcept {
  return {rings_from_[index_of(process)]->data(), ends(process, self_).to, ends(self_, process).from};
}

int arena::cpus() const {
  topology::cpu_set all;
  for (const topology::cpu_set& each : cpus_) all = all | each;
  return all.size();
}

std::int64_t arena::pid(int process) const noexcept { return pids_[index_of(process)]; }

std::size_t arena::size() const noexcept { return processes_.size() * area_bytes(processes_.size()); }

}  // namespace weft::fabric

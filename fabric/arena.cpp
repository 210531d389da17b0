#include <unistd.h>

#include <algorithm>
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

std::size_t arena::area_bytes() noexcept {
  return (boards * sizeof(arena_board) + largest_page - 1) / largest_page * largest_page;
}

arena::arena(std::vector<int> processes, std::vector<std::int64_t> pids, mapping memory)
    : processes_(std::move(processes)), pids_(std::move(pids)), memory_(std::make_unique<mapping>(std::move(memory))) {}

arena::~arena() = default;

bool arena::holds(int process) const noexcept { return std::ranges::binary_search(processes_, process); }

std::size_t arena::index_of(int process) const noexcept {
  return static_cast<std::size_t>(std::ranges::lower_bound(processes_, process) - processes_.begin());
}

arena_board& arena::board(int process, std::size_t index) const noexcept {
  // Its owner has made it: see joining.
  return *std::launder(reinterpret_cast<arena_board*>(memory_->data() + index_of(process) * area_bytes()) + index);
}

std::int64_t arena::pid(int process) const noexcept { return pids_[index_of(process)]; }

std::size_t arena::size() const noexcept { return memory_->size(); }

}  // namespace weft::fabric

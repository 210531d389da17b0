// SPDX-License-Identifier: Apache-2.0
// Where the memory of a window's ranks lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>
#include <weft/calls/communicator_state.hpp>
#include <weft/window.hpp>

namespace weft::detail {

/// A rank's memory of a window: control | slots | elements.
class window_memory {
 public:
  /// Throws std::bad_alloc.
  window_memory(std::shared_ptr<node_memory> from, const window_type& type, std::size_t count, std::size_t slots);
  window_memory(const window_memory&) = delete;
  window_memory& operator=(const window_memory&) = delete;
  ~window_memory();
  /// Others may still write it: it goes when nothing else of the process's memory is used.
  void leave_until_end() noexcept { is_left_ = true; }

  const window_target& target() const noexcept { return mine_; }
  const std::byte* begin() const noexcept { return reinterpret_cast<const std::byte*>(mine_.control); }
  std::size_t bytes() const noexcept { return bytes_; }

  /// Bytes in front of the elements.
  static std::size_t bytes_before(std::size_t slots) noexcept;

 private:
  const std::shared_ptr<node_memory> from_;
  const std::size_t bytes_;
  window_target mine_;
  bool is_left_ = false;
};

/// What a rank tells the others of its memory.
struct window_part {
  static constexpr std::uint64_t elsewhere = ~std::uint64_t{0};
  std::uint64_t element_bytes = 0;  ///< these two are the same on all ranks
  std::uint64_t slots = 0;
  std::uint64_t count = 0;
  std::uint64_t has_memory = 0;     ///< 1, or 0: there was none to be had
  std::uint64_t address = 0;        ///< for the ranks of its process
  std::uint64_t place = elsewhere;  ///< in its process's heap
};

/// What `memory` is to the others; null: there is none.
window_part part_of(const communicator_state& own, const window_type& type, std::size_t count, std::size_t slots,
                    const window_memory* memory);

/// Throws mismatched_call and operation_failed where they do not fit: on all ranks alike.
void check_parts(const communicator_state& own, std::span<const window_part> all);

/// The ranks of a window as a process sees them.
struct window_table {
  std::vector<window_target> targets;
  /// Whether this process's ranks and that one use each other's memory by messages, one way or both.
  bool any_far = false;
};

/// The same for all ranks of the process. Throws a system error where it has no addresses for a rank's memory.
std::shared_ptr<const window_table> find_targets(communicator_state& own, std::span<const window_part> all);

}  // namespace weft::detail

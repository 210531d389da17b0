// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <new>
#include <string>
#include <weft/fabric/arena.hpp>
#include <weft/node_memory.hpp>
#include <weft/runtime/error.hpp>
#include <weft/window/window_memory.hpp>

namespace weft::detail {
namespace {

std::size_t bytes_of_all(const window_type& type, std::size_t count, std::size_t slots) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (slots > most / 2 / sizeof(window_slot) || count > most / 2 / type.bytes) throw std::bad_array_new_length();
  return window_memory::bytes_before(slots) + count * type.bytes;
}

/// Where that rank's memory begins for this process; null where it does not share it.
std::byte* find_memory(const process& host, int of, const window_part& its) {
  if (of == host.number()) return reinterpret_cast<std::byte*>(its.address);
  const fabric::arena* const node = host.arena();
  if (node == nullptr || !node->holds(of) || its.place == window_part::elsewhere) return nullptr;
  const std::size_t bytes = window_memory::bytes_before(its.slots) + its.count * its.element_bytes;
  std::byte* const found = node->heap()->at(node->index_of(of), its.place, bytes);
  if (found == nullptr)
    throw error(errc::protocol, "process " + std::to_string(of) + " has " + std::to_string(bytes) +
                                    " bytes of a window at offset " + std::to_string(its.place) +
                                    " of its heap, which is shorter");
  return found;
}

}  // namespace

std::size_t window_memory::bytes_before(std::size_t slots) noexcept {
  constexpr std::size_t line = alignof(window_control);
  return (sizeof(window_control) + slots * sizeof(window_slot) + line - 1) / line * line;
}

window_memory::window_memory(std::shared_ptr<node_memory> from, const window_type& type, std::size_t count,
                             std::size_t slots)
    : from_(std::move(from)), bytes_(bytes_of_all(type, count, slots)) {
  auto* const begin = static_cast<std::byte*>(take_memory(*from_, bytes_));
  mine_.elements = begin + bytes_before(slots);
  mine_.control = ::new (begin) window_control;
  mine_.count = count;
  for (std::size_t i = 0; i < slots; ++i) ::new (&mine_.slot(i)) window_slot;
  type.initialise(mine_.elements, count);
}

window_memory::~window_memory() {
  if (is_left_)
    give_back_memory_at_end(*from_, mine_.control, bytes_);
  else
    give_back_memory(*from_, mine_.control, bytes_);
}

window_part part_of(const communicator_state& own, const window_type& type, std::size_t count, std::size_t slots,
                    const window_memory* memory) {
  window_part part{type.bytes, slots, count};
  if (memory == nullptr) return part;
  part.has_memory = 1;
  part.address = reinterpret_cast<std::uintptr_t>(memory->begin());
  const fabric::arena* const node = own.host.arena();
  if (node != nullptr && node->heap() != nullptr)
    part.place = node->heap()->offset_of(memory->begin(), memory->bytes()).value_or(window_part::elsewhere);
  return part;
}

void check_parts(const communicator_state& own, std::span<const window_part> all) {
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::string who = where(own, "window") + ": rank " + std::to_string(r);
    if (all[r].element_bytes != all[0].element_bytes || all[r].slots != all[0].slots)
      throw error(errc::mismatched_call, who + " has elements of " + std::to_string(all[r].element_bytes) +
                                             " bytes and " + std::to_string(all[r].slots) + " slots, rank 0 " +
                                             std::to_string(all[0].element_bytes) + " and " +
                                             std::to_string(all[0].slots));
    if (all[r].has_memory == 0)
      throw error(errc::operation_failed, who + " has no memory for its " + std::to_string(all[r].count) +
                                              " elements of " + std::to_string(all[r].element_bytes) + " bytes");
  }
}

std::shared_ptr<const window_table> find_targets(communicator_state& own, std::span<const window_part> all) {
  const auto make = [&]() -> std::shared_ptr<const void> {
    auto table = std::make_shared<window_table>();
    const auto& process_of = own.member.members->process;
    bool all_here_are_shared = true;
    for (std::size_t r = 0; r < all.size(); ++r) {
      const bool here = process_of[r] == own.host.number();
      std::byte* const begin = find_memory(own.host, process_of[r], all[r]);
      if (here && all[r].place == window_part::elsewhere) all_here_are_shared = false;
      if (begin == nullptr) table->any_far = true;
      window_target its;
      its.count = all[r].count;
      if (begin != nullptr) {
        its.elements = begin + window_memory::bytes_before(all[r].slots);
        its.control = reinterpret_cast<window_control*>(begin);
      }
      table->targets.push_back(its);
    }
    const bool any_elsewhere =
        std::ranges::any_of(process_of, [&](int process) { return process != own.host.number(); });
    if (any_elsewhere && !all_here_are_shared) table->any_far = true;
    return table;
  };
  return std::static_pointer_cast<const window_table>(own.here->common_to_ranks(make));
}

}  // namespace weft::detail

// SPDX-License-Identifier: Apache-2.0
// Memory that processes tell each other of: used in place where it lies in the heaps of the arena, else read by the
// kernel's help.
#include <chrono>
#include <weft/fabric/process_memory.hpp>
#include <weft/process/process.hpp>
#include <weft/request.hpp>
#include <weft/request/combine_inputs.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/patience.hpp>
#include <weft/team/board_party.hpp>

namespace weft::detail {

void board_party::tell(patterns::offers what) noexcept {
  using patterns::offers;
  has_told_ = true;
  told_buffers& mine = told_[self()];
  const std::size_t bytes = schedules::has_blocks(call_->what) ? 0 : way_->how.count * way_->element;
  const place from = what == offers::share ? kept_at_ : in_;
  mine = {reinterpret_cast<std::uintptr_t>(from), 0, told_buffers::none, told_buffers::none};
  if (what != offers::output) mine.in = offset_of(from, what == offers::share ? 0 : bytes);
  if (what == offers::output || what == offers::both) mine.out = offset_of(out_, bytes);
  std::memcpy(rounds_.line(self()), &mine, sizeof mine);
}

void board_party::hear(std::size_t member, patterns::offers) noexcept {
  std::memcpy(&told_[member], rounds_.line(member), sizeof told_[member]);
}

std::uint64_t board_party::offset_of(const void* buffer, std::size_t bytes) const noexcept {
  if (heap_ == nullptr) return told_buffers::elsewhere;
  return heap_->offset_of(buffer, bytes).value_or(told_buffers::elsewhere);
}

board_party::place board_party::find(std::size_t member, std::uint64_t offset, std::size_t bytes) {
  std::byte* const found = heap_ != nullptr ? heap_->at(regions_[member], offset, bytes) : nullptr;
  if (found == nullptr)
    host_.messages().break_communicator(communicator_, errc::protocol,
                                        "process " + std::to_string(seats_[member].process) + " told of " +
                                            std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                                            " of its heap, which is shorter");
  return found;
}

bool board_party::take(std::size_t member, std::size_t at, place to, std::size_t count) {
  return poisoned_ != nullptr || read(member, at * way_->element, to, count * way_->element);
}

bool board_party::read(std::size_t member, std::size_t offset, place to, std::size_t bytes) {
  if (bytes == 0) return true;
  const told_buffers& its = told_[member];
  if (its.in != told_buffers::elsewhere) {
    const std::byte* const found = find(member, its.in + offset, bytes);
    if (found == nullptr) return false;
    copy_bytes(to, found, bytes);
  } else if (const auto refused = fabric::read_process_memory(pids_[member], its.address + offset, {to, bytes})) {
    return end_unread(member, "cannot be read: process_vm_readv: " + refused.message());
  }
  return rounds_.stays(member) || end_unread(member, "was read while that left the call");
}

bool board_party::end_unread(std::size_t member, const std::string& why) {
  const auto deadline = std::chrono::steady_clock::now() + fabric::time_to_explain;
  // relaxed: what it failed with is read under the messenger's token.
  look_for(
      host_.moved_by(), [&] { return failed_.load(std::memory_order_relaxed); },
      [&] { return std::chrono::steady_clock::now() >= deadline; });
  host_.messages().break_communicator(communicator_, errc::operation_failed,
                                      "the memory of process " + std::to_string(seats_[member].process) + " " + why);
  return false;
}

bool board_party::give(std::size_t member, std::size_t at, place from, std::size_t count) {
  const std::size_t bytes = count * way_->element;
  std::byte* const output = find(member, told_[member].out + at * way_->element, bytes);
  if (output == nullptr) return false;
  if (rounds_.all_stay()) copy_bytes(output, from, bytes);
  return true;
}

void board_party::combine_into_outputs(patterns::range of) {
  if (!rounds_.all_stay()) return;
  const place own = outputs_[self()];
  std::erase(outputs_, nullptr);
  const place first = own != nullptr ? own : outputs_.front();
  combine_inputs(array_operator(*call_->of), as_inputs(operands_), of.first, of.count, first + of.first * way_->element,
                 outputs_);
}

board_party::place board_party::kept(patterns::range of) {
  const bool takes = call_->what != collective::reduce || self() == static_cast<std::size_t>(call_->root);
  kept_at_ = takes ? output(of.first) : memory_in(kept_, of.count * way_->element);
  return kept_at_;
}

void board_party::apart(std::size_t count) {
  if (call_->what != collective::alltoall || in_ != out_) return;
  const place copy = memory_in(apart_, count * way_->element);
  copy_bytes(copy, in_, count * way_->element);
  in_ = copy;
}

std::size_t board_party::bytes_of_piece() const noexcept {
  return std::max(fabric::most_pieces / (size() - 1), fabric::least_piece) / element_alignment * element_alignment;
}

bool board_party::combine_told(patterns::range of, place to) {
  if (of.count == 0) return true;
  const std::size_t piece = bytes_of_piece(), each = piece / way_->element;
  for (std::size_t i = 0; i < size(); ++i) {
    // A caller's operator is given nothing that may yet change.
    const bool in_place = i != self() && !way_->custom && told_[i].in != told_buffers::elsewhere;
    mapped_[i] = i == self() ? input(of.first) : nullptr;
    if (in_place && (mapped_[i] = find(i, told_[i].in + of.first * way_->element, of.count * way_->element)) == nullptr)
      return false;
  }
  place const pieces = memory_in(pieces_, (size() - 1) * piece);
  for (std::size_t done = 0, some = 0; done < of.count && poisoned_ == nullptr; done += some) {
    some = std::min(each, of.count - done);
    place into = pieces;
    for (std::size_t i = 0; i < size(); ++i) {
      operands_[i] = mapped_[i] != nullptr ? const_cast<place>(mapped_[i]) + done * way_->element : into;
      if (mapped_[i] != nullptr) continue;
      if (!read(i, (of.first + done) * way_->element, into, some * way_->element)) return false;
      into += piece;
    }
    combine(operands_, to + done * way_->element, some);
  }
  return true;
}

void board_party::show_counts() noexcept {
  std::byte* const slot = rounds_.slot(self());
  for (std::size_t i = 0; i <= size(); ++i)
    std::memcpy(slot + i * sizeof(std::uint64_t), &begins_[i], sizeof begins_[i]);
}

bool board_party::hear_counts(std::size_t member, patterns::range& its, std::size_t& all) {
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  const std::byte* const slot = rounds_.slot(member);
  std::array<std::size_t, 2> block;  // its begin and its end
  std::memcpy(block.data(), slot + self() * sizeof block[0], sizeof block);
  std::memcpy(&all, slot + size() * sizeof all, sizeof all);
  its = {block[0], block[1] - block[0]};
  const std::size_t expected = received(member).count;
  if (block[0] <= block[1] && block[1] <= all && its.count == expected) return true;
  host_.messages().break_communicator(communicator_, errc::mismatched_call,
                                      "in an alltoall with counts rank " + std::to_string(leaders_[member]) +
                                          " sends rank " + std::to_string(leaders_[self()]) + " " +
                                          std::to_string(its.count * way_->element) + " bytes where that expects " +
                                          std::to_string(expected * way_->element) + " (communicator " +
                                          std::to_string(communicator_) + ")");
  return false;
}

}  // namespace weft::detail

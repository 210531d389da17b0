// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <string>
#include <weft/executor/offered_memory.hpp>
#include <weft/fabric/process_memory.hpp>
#include <weft/runtime/error.hpp>

namespace weft::detail {

memory_offer offered_memory::offer(const std::byte* memory, std::size_t bytes, const offer_mark& mark) const noexcept {
  memory_offer made{reinterpret_cast<std::uintptr_t>(memory)};
  made.mark = mark.address();
  if (shared_ != nullptr && shared_->heap() != nullptr)
    made.place = shared_->heap()->offset_of(memory, bytes).value_or(memory_offer::elsewhere);
  return made;
}

const std::byte* offered_memory::find(int process, const memory_offer& of, std::size_t offset, std::size_t bytes,
                                      bool fixed) const {
  if (shared_ == nullptr) return reinterpret_cast<const std::byte*>(of.address) + offset;
  if (fixed || of.place == memory_offer::elsewhere) return nullptr;
  const auto* const heap = shared_->heap().get();
  const std::byte* const found =
      heap != nullptr ? heap->at(shared_->index_of(process), of.place + offset, bytes) : nullptr;
  if (found == nullptr)
    throw error(errc::protocol, "process " + std::to_string(process) + " offered " + std::to_string(bytes) +
                                    " bytes at offset " + std::to_string(of.place + offset) +
                                    " of its heap, which is shorter");
  return found;
}

std::error_code offered_memory::read(int process, const memory_offer& of, std::size_t offset,
                                     std::span<std::byte> into) const noexcept {
  return fabric::read_process_memory(shared_->pid(process), of.address + offset, into);
}

std::error_code offered_memory::look(int process, const memory_offer& of, std::uint64_t communicator) const noexcept {
  if (shared_ == nullptr) return {};
  // acquire: pairs with the release in offer_mark::fall(), by what has been read before.
  std::atomic_thread_fence(std::memory_order_acquire);
  std::uint64_t found = 0;
  const auto failed =
      fabric::read_process_memory(shared_->pid(process), of.mark, std::as_writable_bytes(std::span(&found, 1)));
  if (failed || found == offer_mark::standing(communicator)) return failed;
  return {ECANCELED, std::system_category()};
}

}  // namespace weft::detail

// SPDX-License-Identifier: Apache-2.0
// Transfers between processes of a node, and queues of them that need no memory of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <system_error>
#include <utility>
#include <weft/fabric/transport.hpp>

namespace weft::fabric {

/// One of them, in its transfer's space.
struct moving_transfer {
  transfer* of = nullptr;
  moving_transfer* next = nullptr;
  std::byte* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t done = 0;  ///< of the first ones
  std::uint64_t tag = 0;
  std::uint64_t address =
      0;  ///< landing: where it is in the sender's memory; leaving: when it began, if that is to be known
  std::uint64_t name = 0;            ///< landing: the sender's for it; 0: it comes in parts alone
  std::errc failure{};               ///< ended: by what
  std::uint32_t end : 31 = 0;        ///< landing: all from there on has been read
  std::uint32_t read_alone : 1 = 0;  ///< no parts of it are sent

  static moving_transfer& begin(transfer& context, bool receiving, std::byte* data, std::size_t bytes,
                                std::uint64_t tag) {
    static_assert(sizeof(moving_transfer) <= sizeof context.provider_space &&
                  alignof(moving_transfer) <= alignof(transfer));
    context.receiving = receiving;
    moving_transfer& begun = *new (context.provider_space) moving_transfer;
    begun.of = &context;
    begun.data = data;
    begun.bytes = static_cast<std::uint32_t>(bytes);
    begun.tag = tag;
    return begun;
  }
};

/// Transfers, the first ones first.
class transfer_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  moving_transfer& front() const noexcept { return *first_; }
  void push(moving_transfer& added) noexcept {
    added.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &added;
    last_ = &added;
  }
  moving_transfer& pop() noexcept { return *take(nullptr, first_); }
  /// The first one of which this holds; null where there is none.
  template <class Predicate>
  moving_transfer* find_if(Predicate holds) const noexcept {
    moving_transfer* each = first_;
    while (each != nullptr && !holds(*each)) each = each->next;
    return each;
  }
  /// Takes it out.
  template <class Predicate>
  moving_transfer* take_if(Predicate holds) noexcept {
    for (moving_transfer *before = nullptr, *each = first_; each != nullptr; before = std::exchange(each, each->next))
      if (holds(*each)) return take(before, each);
    return nullptr;
  }

 private:
  moving_transfer* take(moving_transfer* before, moving_transfer* taken) noexcept {
    (before == nullptr ? first_ : before->next) = taken->next;
    if (last_ == taken) last_ = before;
    return taken;
  }

  moving_transfer* first_ = nullptr;
  moving_transfer* last_ = nullptr;
};

}  // namespace weft::fabric

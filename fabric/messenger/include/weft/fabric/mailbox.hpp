// SPDX-License-Identifier: Apache-2.0
// Matching: which message meets which receive, for one rank of one communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <weft/fabric/fifo_index.hpp>
#include <weft/fabric/operation.hpp>
#include <weft/runtime/copy_bytes.hpp>
#include <weft/runtime/memory_budget.hpp>

namespace weft::fabric {

/// A message that came before its receive: whole (`data`), or only announced.
struct unexpected_message {
  int source = -1;
  std::uint64_t tag = 0;
  bool collective = false;
  std::uint64_t fingerprint = 0;
  std::size_t bytes = 0;
  int process = -1;                        ///< who sent it
  std::unique_ptr<std::byte[]> data;       ///< the message; nothing where it is empty or only announced
  std::size_t room = 0;                    ///< bytes that `data` has room for
  memory_charge charge;                    ///< for this and that room
  bool announced = false;                  ///< it waits at its sender,
  std::uint64_t sender_name = 0;           ///< which calls it this, in another process,
  send_operation* at_home = nullptr;       ///< or is this operation, in our own
  std::shared_ptr<const poison> poisoned;  ///< it has no contents
  std::uint64_t aside = 0;                 ///< not 0: it is set aside under this number

  /// What keeping it costs this process's memory, bytes, roughly.
  std::size_t cost() const noexcept {
    return announced ? 0 : (poisoned != nullptr ? 0 : bytes) + sizeof(unexpected_message) + 64;
  }

  void copy(std::span<const std::byte> message) {
    if (room < message.size()) {
      data = std::make_unique_for_overwrite<std::byte[]>(message.size());
      room = message.size();
    }
    copy_bytes(data.get(), message.data(), message.size());
  }

  boost::intrusive::list_member_hook<> by_both, by_source, by_tag, in_order;
};

/// The messages and receives of one rank of one communicator that wait for each other. Messages are matched in the
/// order in which they came, receives in the order in which they were posted; any_peer and any_message_tag match
/// everything. Messages and collectives do not see each other.
class mailbox {
 public:
  mailbox() = default;
  ~mailbox();
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  /// So many receives of collectives, and as many messages of theirs, can wait from now on without an allocation.
  void reserve(std::size_t all) {
    collective_posted_.reserve(all);
    collective_unexpected_.reserve(all);
  }

  /// Takes out the posted receive that a message of `source` and `tag` matches: the one posted first. Null: none.
  receive_operation* take_posted(int source, std::uint64_t tag, bool collective) noexcept {
    if (!collective && wildcards_ != 0) return take_first_posted(source, tag);
    auto* const first =
        static_cast<receive_operation*>((collective ? collective_posted_ : posted_).take({source, tag}));
    if (first != nullptr) first->in_mailbox = false;
    return first;
  }
  /// The first receive posted that a collective's message of `source` and `tag` matches. Null: none.
  const receive_operation* find_collective_posted(int source, std::uint64_t tag) noexcept;
  void add_posted(receive_operation& receive);
  void remove_posted(receive_operation& receive) noexcept;

  /// Whether a message waits that such a receive could match.
  bool has_unexpected(bool collective) const noexcept {
    return !(collective ? collective_in_order_ : in_order_).empty();
  }
  /// Takes out the message that `receive` matches: the one that came first. Null: none.
  [[gnu::noinline]] std::unique_ptr<unexpected_message> take_unexpected(const receive_operation& receive) noexcept;
  /// The message that a receive of (source, tag) would match. Null: none.
  const unexpected_message* find_unexpected(int source, std::uint64_t tag) noexcept;
  void add_unexpected(std::unique_ptr<unexpected_message> message);
  /// One that waits, or is set aside.
  std::unique_ptr<unexpected_message> remove_unexpected(unexpected_message& message) noexcept;
  /// Sets the message aside that a receive of (source, tag) would match: no other receive matches it, and it stays here
  /// under a number. Null: none.
  const unexpected_message* set_aside(int source, std::uint64_t tag) noexcept;
  /// Takes out the one that was set aside under that number. Null: it is here no more.
  std::unique_ptr<unexpected_message> take_aside(std::uint64_t number) noexcept;
  /// A message of collective `sequence` whose sender does not agree on `fingerprint`, or null.
  const unexpected_message* find_disagreeing(std::uint32_t sequence, std::uint64_t fingerprint) const noexcept;
  /// Takes out a message of which this holds. Null: none.
  template <class Predicate>
  std::unique_ptr<unexpected_message> take_unexpected_if(Predicate holds) noexcept {
    for (everything* const all : {&in_order_, &collective_in_order_})
      for (unexpected_message& each : *all)
        if (holds(each)) return remove_unexpected(each);
    return nullptr;
  }
  /// Calls `function` with each message that waits, but for those of collectives, as they came, until that returns
  /// false.
  template <class Function>
  void look_at_unexpected(Function function) const {
    for (const unexpected_message& each : in_order_)
      if (!function(each)) return;
  }
  /// Any message of those that wait or are set aside, or null: for clearing.
  std::unique_ptr<unexpected_message> take_any_unexpected() noexcept;

 private:
  using receives = fifo_index<operation, &operation::queued>;
  using everything = fifo_index<unexpected_message, &unexpected_message::in_order>::list;

  [[gnu::noinline]] receive_operation* take_first_posted(int source, std::uint64_t tag) noexcept;
  unexpected_message* match(int source, std::uint64_t tag) noexcept;
  everything& list_of(const unexpected_message& message) noexcept;

  receives posted_;
  std::size_t wildcards_ = 0;  // posted receives that have one
  std::uint64_t next_order_ = 0;
  fifo_index<unexpected_message, &unexpected_message::by_both> by_both_;
  fifo_index<unexpected_message, &unexpected_message::by_source> by_source_;
  fifo_index<unexpected_message, &unexpected_message::by_tag> by_tag_;
  everything in_order_;
  everything aside_;  // few: who has one is about to receive it
  std::uint64_t last_aside_ = 0;

  receives collective_posted_;
  everything collective_in_order_;
  fifo_index<unexpected_message, &unexpected_message::by_both> collective_unexpected_;
};

}  // namespace weft::fabric

// SPDX-License-Identifier: Apache-2.0
#include <initializer_list>
#include <weft/fabric/mailbox.hpp>

namespace weft::fabric {
namespace {

match_key key_of(const operation& posted) { return {posted.peer, posted.tag}; }
bool has_wildcard(const operation& posted) { return posted.peer == any_peer || posted.tag == any_message_tag; }

}  // namespace

mailbox::~mailbox() {
  while (take_any_unexpected() != nullptr) {
  }
}

/// Of those with wildcards, too.
receive_operation* mailbox::take_first_posted(int source, std::uint64_t tag) noexcept {
  receive_operation* first = nullptr;
  for (const match_key& key : {match_key{source, tag}, match_key{any_peer, tag}, match_key{source, any_message_tag},
                               match_key{any_peer, any_message_tag}}) {
    auto* const candidate = static_cast<receive_operation*>(posted_.front(key));
    if (candidate != nullptr && (first == nullptr || candidate->order < first->order)) first = candidate;
  }
  if (first != nullptr) remove_posted(*first);
  return first;
}

const receive_operation* mailbox::find_collective_posted(int source, std::uint64_t tag) noexcept {
  return static_cast<const receive_operation*>(collective_posted_.front({source, tag}));
}

void mailbox::add_posted(receive_operation& receive) {
  receive.order = next_order_++;
  (receive.collective ? collective_posted_ : posted_).push(key_of(receive), receive);
  receive.in_mailbox = true;
  if (!receive.collective && has_wildcard(receive)) ++wildcards_;
}

void mailbox::remove_posted(receive_operation& receive) noexcept {
  receive.in_mailbox = false;
  (receive.collective ? collective_posted_ : posted_).erase(key_of(receive), receive);
  if (!receive.collective && has_wildcard(receive)) --wildcards_;
}

unexpected_message* mailbox::match(int source, std::uint64_t tag) noexcept {
  if (in_order_.empty()) return nullptr;
  if (source != any_peer && tag != any_message_tag) return by_both_.front({source, tag});
  if (source != any_peer) return by_source_.front({source, 0});
  if (tag != any_message_tag) return by_tag_.front({0, tag});
  return &in_order_.front();
}

std::unique_ptr<unexpected_message> mailbox::take_unexpected(const receive_operation& receive) noexcept {
  unexpected_message* found =
      receive.collective ? collective_unexpected_.front(key_of(receive)) : match(receive.peer, receive.tag);
  return found == nullptr ? nullptr : remove_unexpected(*found);
}

const unexpected_message* mailbox::find_unexpected(int source, std::uint64_t tag) noexcept {
  return match(source, tag);
}

void mailbox::add_unexpected(std::unique_ptr<unexpected_message> message) {
  unexpected_message& added = *message;
  if (added.collective) {
    collective_unexpected_.push({added.source, added.tag}, added);
  } else {
    try {
      by_both_.push({added.source, added.tag}, added);
      by_source_.push({added.source, 0}, added);
      by_tag_.push({0, added.tag}, added);
    } catch (...) {
      if (added.by_source.is_linked()) by_source_.erase({added.source, 0}, added);
      if (added.by_both.is_linked()) by_both_.erase({added.source, added.tag}, added);
      throw;
    }
  }
  list_of(added).push_back(added);
  static_cast<void>(message.release());  // owned by the lists from here, until remove_unexpected
}

mailbox::everything& mailbox::list_of(const unexpected_message& message) noexcept {
  if (message.aside != 0) return aside_;
  return message.collective ? collective_in_order_ : in_order_;
}

std::unique_ptr<unexpected_message> mailbox::remove_unexpected(unexpected_message& message) noexcept {
  list_of(message).erase(everything::s_iterator_to(message));
  if (message.aside != 0) {
    message.aside = 0;
  } else if (message.collective) {
    collective_unexpected_.erase({message.source, message.tag}, message);
  } else {
    by_both_.erase({message.source, message.tag}, message);
    by_source_.erase({message.source, 0}, message);
    by_tag_.erase({0, message.tag}, message);
  }
  return std::unique_ptr<unexpected_message>(&message);
}

const unexpected_message* mailbox::set_aside(int source, std::uint64_t tag) noexcept {
  unexpected_message* const found = match(source, tag);
  if (found == nullptr) return nullptr;
  static_cast<void>(remove_unexpected(*found).release());  // owned by the list again
  found->aside = ++last_aside_;
  aside_.push_back(*found);
  return found;
}

std::unique_ptr<unexpected_message> mailbox::take_aside(std::uint64_t number) noexcept {
  for (unexpected_message& each : aside_)
    if (each.aside == number) return remove_unexpected(each);
  return nullptr;
}

const unexpected_message* mailbox::find_disagreeing(std::uint32_t sequence, std::uint64_t fingerprint) const noexcept {
  for (const unexpected_message& message : collective_in_order_)
    if (message.tag >> 32 == sequence && message.fingerprint != fingerprint) return &message;
  return nullptr;
}

std::unique_ptr<unexpected_message> mailbox::take_any_unexpected() noexcept {
  for (everything* const all : {&in_order_, &collective_in_order_, &aside_})
    if (!all->empty()) return remove_unexpected(all->front());
  return nullptr;
}

}  // namespace weft::fabric

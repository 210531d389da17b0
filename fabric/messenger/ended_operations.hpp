// SPDX-License-Identifier: Apache-2.0
// Operations that have ended, and whose owners are to be told.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <weft/fabric/operation.hpp>
#include <weft/fabric/participant.hpp>
#include <weft/runtime/trace.hpp>

namespace weft::fabric {

class ended_operations {
 public:
  ~ended_operations() { list_.clear(); }

  void begin(operation& begun) noexcept {
    begun.failure = nullptr;
    begun.transfer_state = nullptr;
    begun.inquiries = 0;
    begun.begun_at = trace::current_track != nullptr ? ticks_now() : 0;
    begun.at->active.push_back(begun);
    begun.at->count_move();
    ++in_flight_;
  }
  void end(operation& ended) noexcept {
    ended.now = operation::stage::ended;
    ended.transfer_state = nullptr;
    if (ended.begun_at != 0) [[unlikely]]
      note(ended);
    ended.at->active.erase(ended.at->active.iterator_to(ended));
    ended.at->count_move();
    --in_flight_;
    list_.push_back(ended);
  }

  /// Begun and not ended.
  std::size_t in_flight() const noexcept { return in_flight_; }
  bool empty() const noexcept { return list_.empty(); }
  /// Tells the first one's owner, who may begin it again at once.
  void tell_first() noexcept {
    operation& first = list_.front();
    list_.pop_front();
    first.now = operation::stage::idle;
    first.finished();
  }

 private:
  [[gnu::cold, gnu::noinline]] static void note(const operation& ended) noexcept {
    trace::track* const on = trace::current_track;
    if (on == nullptr) return;
    const auto& world = ended.at->members->world;
    const auto number_of = [&](int rank) { return world[static_cast<std::size_t>(rank)]; };
    trace::record& its = on->next();
    its = trace::record();
    its.what = trace::kind::transfer;
    its.name = ended.is_send ? "send" : "receive";
    its.begin = ended.begun_at;
    its.end = ticks_now();
    its.communicator = ended.at->members->communicator;
    its.bytes = ended.bytes;
    int peer = ended.peer;
    std::uint64_t tag = ended.collective ? static_cast<std::uint32_t>(ended.tag) : ended.tag;
    if (!ended.is_send && !ended.collective) {
      const auto& received = static_cast<const receive_operation&>(ended);
      its.bytes = received.received;
      tag = received.received_tag;
      if (peer < 0) peer = received.source;
    }
    its.set_tag(tag);
    its.peer = peer < 0 ? trace::record::nobody : number_of(peer);
    its.overlaps = true;
    const int owner = number_of(ended.at->rank) - on->of().first_rank();
    if (owner >= 0 && owner < 0xffff) its.owner = static_cast<std::uint16_t>(owner + 1);
    on->add();
  }

  boost::intrusive::list<
      operation, boost::intrusive::member_hook<operation, boost::intrusive::list_member_hook<>, &operation::queued>,
      boost::intrusive::constant_time_size<false>>
      list_;
  std::size_t in_flight_ = 0;
};

}  // namespace weft::fabric

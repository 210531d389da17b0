// SPDX-License-Identifier: Apache-2.0
#include "process_channel.hpp"

#include <algorithm>
#include <exception>
#include <weft/fabric/awaited.hpp>

namespace weft::detail {
namespace {

/// Its id is neither of a rank of the job nor that of the processes, which has the last leader.
std::shared_ptr<const fabric::group> between(std::span<const std::int32_t> first_ranks, process_channel::purpose of,
                                             int first, int second) {
  const std::uint64_t leader = fabric::leader_from_end(
      1 + process_channel::leaders_each * static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(of));
  auto both = std::make_shared<fabric::group>();
  both->communicator = fabric::communicator_id(leader, static_cast<std::uint64_t>(second));
  for (const int each : {first, second}) {
    both->world.push_back(first_ranks[static_cast<std::size_t>(each)]);
    both->process.push_back(each);
  }
  return both;
}

}  // namespace

process_channel::process_channel(fabric::messenger& messages, progress& by, std::span<const std::int32_t> first_ranks,
                                 purpose of, int first, int second)
    : messages_(messages), by_(by), me_(between(first_ranks, of, first, second), messages.process() == first ? 0 : 1) {
  messages_.join(me_);
}

template <class Operation>
void process_channel::finish(Operation& begun, std::uint64_t tag, std::size_t bytes) {
  begun.at = &me_;
  begun.peer = 1 - me_.rank;
  begun.tag = tag;
  begun.bytes = bytes;
  messages_.post(begun);
  begun.done.wait(by_);
  if (begun.failure != nullptr) std::rethrow_exception(begun.failure);
}

void process_channel::send(std::uint64_t tag, std::span<const std::byte> data) {
  fabric::awaited<fabric::send_operation> sent;
  sent.data = data.data();
  finish(sent, tag, data.size());
}

std::size_t process_channel::receive(std::uint64_t tag, std::span<std::byte> into) {
  fabric::awaited<fabric::receive_operation> received;
  received.data = into.data();
  finish(received, tag, into.size());
  return received.received;
}

bool is_lost(fabric::messenger& messages, int process) {
  const auto lost = messages.lost();
  return std::ranges::find(lost, process) != lost.end();
}

}  // namespace weft::detail

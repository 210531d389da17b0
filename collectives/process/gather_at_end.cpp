// SPDX-License-Identifier: Apache-2.0
#include "gather_at_end.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <weft/fabric/participant.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/event.hpp>

namespace weft::detail {
namespace {

bool is_lost(fabric::messenger& messages, int process) { return std::ranges::binary_search(messages.lost(), process); }

template <class Operation>
struct awaited final : Operation {
  void finished() noexcept override { done.set(); }
  event done;
};

/// Two processes, one of which gathers, in a communicator of their own: what befalls others does not disturb them.
class pair_of_processes {
 public:
  pair_of_processes(fabric::messenger& messages, progress& by, const fabric::group& all, int gathers, int other)
      : messages_(messages), by_(by), me_(between(all, gathers, other), messages.process() == gathers ? 0 : 1) {
    messages_.join(me_);
  }
  pair_of_processes(const pair_of_processes&) = delete;
  pair_of_processes& operator=(const pair_of_processes&) = delete;
  ~pair_of_processes() { messages_.leave(me_); }

  void send(std::span<const std::byte> data) {
    awaited<fabric::send_operation> sent;
    sent.data = data.data();
    finish(sent, data.size());
  }
  void receive(std::span<std::byte> into) {
    awaited<fabric::receive_operation> received;
    received.data = into.data();
    finish(received, into.size());
    if (received.received != into.size())
      throw error(errc::protocol, "process " + std::to_string(me_.members->process[1]) + " has said something of " +
                                      std::to_string(received.received) + " bytes at the end, and not of " +
                                      std::to_string(into.size()));
  }

 private:
  /// No rank of the job is the leader that its id names, nor is that of the processes.
  static std::shared_ptr<const fabric::group> between(const fabric::group& all, int gathers, int other) {
    constexpr std::uint64_t first_leader = 0x8000'0000;
    auto both = std::make_shared<fabric::group>();
    both->communicator = (first_leader + static_cast<std::uint64_t>(gathers)) << 32 | static_cast<std::uint32_t>(other);
    for (const int each : {gathers, other}) {
      both->world.push_back(all.world[static_cast<std::size_t>(each)]);
      both->process.push_back(each);
    }
    return both;
  }

  template <class Operation>
  void finish(Operation& begun, std::size_t bytes) {
    begun.at = &me_;
    begun.peer = 1 - me_.rank;
    begun.tag = 0;
    begun.bytes = bytes;
    messages_.post(begun);
    begun.done.wait(by_);
    if (begun.failure != nullptr) std::rethrow_exception(begun.failure);
  }

  fabric::messenger& messages_;
  progress& by_;
  fabric::participant me_;
};

/// False where that process is lost, or has become so meanwhile.
template <class Part>
bool with(int process, fabric::messenger& messages, Part&& part) {
  if (is_lost(messages, process)) return false;
  try {
    part();
    return true;
  } catch (const error&) {
    if (!is_lost(messages, process)) throw;
    return false;
  }
}

}  // namespace

std::vector<std::vector<std::byte>> gather_at_end(fabric::messenger& messages, progress& by,
                                                  const fabric::group& processes, std::span<const std::byte> mine) {
  const int here = messages.process();
  if (is_lost(messages, here)) return {};  // the others have given it up
  for (int gathers = 0; gathers < here; ++gathers)
    if (with(gathers, messages, [&] { pair_of_processes(messages, by, processes, gathers, here).send(mine); }))
      return {};
  std::vector<std::vector<std::byte>> told(static_cast<std::size_t>(processes.size()));
  for (int p = 0; p < processes.size(); ++p) {
    std::vector<std::byte> its(mine.begin(), mine.end());
    const bool said =
        p == here ||
        (p > here && with(p, messages, [&] { pair_of_processes(messages, by, processes, here, p).receive(its); }));
    if (said) told[static_cast<std::size_t>(p)] = std::move(its);
  }
  return told;
}

}  // namespace weft::detail

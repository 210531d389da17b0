// SPDX-License-Identifier: Apache-2.0
#include "gather_at_end.hpp"

#include <string>
#include <weft/runtime/error.hpp>

#include "process_channel.hpp"

namespace weft::detail {
namespace {

using channel = process_channel;

void receive(channel& from, int process, std::span<std::byte> into) {
  const std::size_t came = from.receive(0, into);
  if (came != into.size())
    throw error(errc::protocol, "process " + std::to_string(process) + " has said something of " +
                                    std::to_string(came) + " bytes at the end, and not of " +
                                    std::to_string(into.size()));
}

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
    if (with(gathers, messages, [&] {
          channel(messages, by, processes.world, channel::purpose::statistics, gathers, here).send(0, mine);
        }))
      return {};
  std::vector<std::vector<std::byte>> told(static_cast<std::size_t>(processes.size()));
  for (int p = 0; p < processes.size(); ++p) {
    std::vector<std::byte> its(mine.begin(), mine.end());
    const bool said =
        p == here || (p > here && with(p, messages, [&] {
                        channel from(messages, by, processes.world, channel::purpose::statistics, here, p);
                        receive(from, p, its);
                      }));
    if (said) told[static_cast<std::size_t>(p)] = std::move(its);
  }
  return told;
}

}  // namespace weft::detail

// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <string>

namespace cg {

namespace {

std::optional<std::string> failure_of(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return "the memory does not suffice";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

void together(weft::communicator& world, const std::function<void()>& work) {
  const std::optional<std::string> failure = failure_of(work);
  const std::array<std::int64_t, 1> mine{failure ? world.rank() : world.size()};
  std::array<std::int64_t, 1> lowest{};
  world.allreduce(mine, lowest, weft::min);
  if (lowest[0] == world.size()) return;

  const int root = static_cast<int>(lowest[0]);
  std::string message = failure.value_or("");
  std::array<std::uint64_t, 1> length{message.size()};
  world.bcast(length, root);
  message.resize(length[0]);
  world.bcast(message, root);
  throw agreed_error(message);
}

}  // namespace cg

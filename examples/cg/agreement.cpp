// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

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
  const int lowest = world.allreduce(failure ? world.rank() : world.size(), weft::min);
  if (lowest == world.size()) return;

  std::string message = failure.value_or("");
  message.resize(world.bcast(message.size(), lowest));
  world.bcast(message, lowest);
  throw agreed_error(message);
}

}  // namespace cg

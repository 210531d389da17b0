// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <weft/roll_call/ask.hpp>
#include <weft/roll_call/take_roll.hpp>
#include <weft/runtime/error.hpp>

#include "stacks.hpp"

namespace weft::tools {
namespace {

using namespace std::chrono_literals;

/// For every process to answer.
constexpr auto answering_time = 1s;
/// When this has passed, stacks that have not been unwound are left out.
constexpr auto unwinding_time = 5s;

}  // namespace

std::vector<roll_process> take_roll(const roll_range& of, bool stacks) {
  const auto deadline = std::chrono::steady_clock::now() + unwinding_time;
  std::vector<roll_socket> sockets = find_sockets();
  std::erase_if(sockets, [&](const roll_socket& each) {
    return each.job != of.job || each.process < of.first || each.process >= of.first + of.count;
  });
  std::vector<roll_process> roll = ask_all(sockets, answering_time);
  for (roll_process& each : roll) {
    if (!stacks) continue;
    if (std::chrono::steady_clock::now() < deadline)
      add_stacks(each);
    else
      each.problems.emplace_back("no stacks, since those of the others took too long");
  }
  return roll;
}

roll_taker::roll_taker(event_loop& loop) : loop_(loop) {}

roll_taker::~roll_taker() {
  for (request& each : requests_) loop_.forget(each.over.get());
}

void roll_taker::take(roll_range of, bool stacks, std::function<void(std::string)> done) {
  request& mine = requests_.emplace_back();
  const auto here = std::prev(requests_.end());
  mine.done = std::move(done);
  mine.over.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!mine.over) throw_system_error(errno, "eventfd", "taking the roll");
  loop_.watch(mine.over.get(), EPOLLIN, [this, here] {
    loop_.forget(here->over.get());
    here->by.join();
    const auto call = std::move(here->done);
    const std::string text = std::move(here->text);
    requests_.erase(here);
    call(text);
  });
  mine.by = thread("weft-roll", [&mine, of = std::move(of), stacks] {
    try {
      mine.text = to_text(take_roll(of, stacks));
    } catch (const std::exception&) {  // no memory, no descriptor: nothing is told
    }
    const std::uint64_t once = 1;
    [[maybe_unused]] const auto written = ::write(mine.over.get(), &once, sizeof once);
  });
}

}  // namespace weft::tools

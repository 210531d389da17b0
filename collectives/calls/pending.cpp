#include <vector>
#include <weft/calls/pending.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/scheduler.hpp>

namespace weft::detail {

bool pending::advance() {
  if (done().ready()) return true;
  state_->host.moved_by().help();
  return done().ready();
}

bool pending::ready() {
  if (advance()) return true;
  scheduler::yield();  // it may be another fiber's turn to do its part
  return advance();
}

void pending::break_communicator() {
  state_->host.messages().break_communicator(
      state_->id(), errc::revoked,
      "rank " + std::to_string(state_->member.rank) + " dropped an operation while an exception unwound");
}

void pending::abandon() {
  if (unwinding() && !advance()) break_communicator();
  await();
  if (failure() == nullptr) deliver();
}

std::size_t wait_any(std::span<pending* const> all) {
  std::vector<event*> events;
  std::vector<std::size_t> indices;
  process* host = nullptr;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr) continue;
    process& its = all[i]->state().host;
    if (host != nullptr && host != &its)
      throw error(errc::invalid_argument, "wait_any: the operations are of several runtimes; wait for those of one");
    host = &its;
    events.push_back(&all[i]->done());
    indices.push_back(i);
  }
  if (events.empty()) return all.size();
  return indices[event::wait_any(events, host->moved_by())];
}

}  // namespace weft::detail

// Payloads that cannot move now: the provider is busy, or the other side is lost.
#include <utility>

#include "engine.hpp"

namespace weft::fabric {

void engine::retry_payloads() {
  auto departures = std::move(blocked_departures_);
  while (!departures.empty()) {
    departure& first = departures.front();
    departures.pop_front();
    pump(first);
  }
  auto arriving = std::move(blocked_landings_);
  while (!arriving.empty()) {
    landing& first = arriving.front();
    arriving.pop_front();
    post_pieces(first);
  }
}

void engine::doom_payloads(int process) {
  // Receives from it that a broken communicator has withdrawn already wait for an answer, or for pieces, that will not
  // come.
  landings_.for_each([&](landing& each) {
    if (each.process == process && each.withdrawing) withdraw(each);
  });
  departures_.for_each([&](departure& each) {
    if (each.process != process) return;
    each.stopped = each.withdrawn = true;
    if (each.in_flight != 0) doomed_.push_back({false, each.id, steady_clock_source().now() + doomed_time});
    settle(each);
  });
}

void engine::give_up_doomed() {
  const auto now = steady_clock_source().now();
  const auto disown = [this](const void* owner) {
    for (transfer_slot& slot : flying_)
      if (slot.owner == owner) slot.owner = nullptr;
  };
  std::erase_if(doomed_, [&](const doomed_payload& each) {
    landing* const arriving = each.arriving ? landings_.find(each.id) : nullptr;
    departure* const leaving = each.arriving ? nullptr : departures_.find(each.id);
    if (arriving == nullptr && leaving == nullptr) return true;
    if (now < each.until) return false;
    if (arriving != nullptr) {
      // Its sender is dead and everything that it had sent has been read: nothing can come into this memory any more.
      disown(arriving);
      arriving->in_flight = 0;
      settle(*arriving);
    } else {
      // What the provider still reads goes nowhere.
      disown(leaving);
      leaving->in_flight = 0;
      if (leaving->kept != nullptr) {
        abandoned_.push_back(std::move(leaving->kept));
        buffered_ -= leaving->bytes;
      }
      settle(*leaving);
    }
    return true;
  });
}

}  // namespace weft::fabric

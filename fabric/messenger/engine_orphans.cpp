// SPDX-License-Identifier: Apache-2.0
// Payloads that cannot move now: the provider is busy, or the other side is lost.
//
// A process that is lost may be alive (stopped, or cut off for a while) and go on later. Its messages are dropped then;
// but a payload that had begun to land in a buffer would go on to fill it, and the buffer is the application's again
// when its receive has ended. So such a receive ends only when nothing of that process can reach its memory any more.
// What the providers do, as tried with two processes of which the sender stops in the middle of 64 MiB
// (libfabric 1.17):
//
//                      net                       tcp;ofi_rxm               shm
//   not begun          cancelled                 cancelled                 cancelled
//   begun, silent      cannot be cancelled       cannot be cancelled       does not occur: the receiver copies it
//   the sender goes on fills the rest            fills the rest            whole, in one poll
//   the sender dies    ends with an error        ends with an error
//   socket shut down   ends with an error, and   ends with an error, and
//                      nothing comes later       nothing comes later
//
// fi_av_remove closes no connection on any of them. Hence: cancel, then `transport::cut`, which ends what had begun;
// then wait for the provider to give the memory back, which it does within a few polls. Where nothing can be cut, that
// takes until the sender goes on or dies; a death that the provider does not notice is asked for (`settings::ended`).
// None of this costs anything before a loss.
#include <utility>

#include "engine.hpp"

namespace weft::fabric {
namespace {

constexpr std::chrono::milliseconds between_orphan_looks{10};

}  // namespace

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

void engine::orphan_payloads(int process) {
  // Receives from it that a broken communicator has withdrawn already wait for an answer, or for pieces, that will not
  // come.
  landings_.for_each([&](landing& each) {
    if (each.process == process && each.withdrawing) withdraw(each);
  });
  departures_.for_each([&](departure& each) {
    if (each.process != process) return;
    each.stopped = each.withdrawn = true;
    if (each.in_flight != 0) each.orphaned = any_orphans_ = true;
    settle(each);
  });
  for (const transfer_slot& slot : slots_.flying()) {
    if (slot.process != process) continue;
    network_->cut(process, flow_.to(process).their_end);
    break;
  }
}

void engine::give_up_orphans() {
  const auto now = settings_.time->now();
  if (now < next_orphan_look_) return;
  next_orphan_look_ = now + between_orphan_looks;
  any_orphans_ = false;
  const auto overdue = [&](int process) { return now >= flow_.to(process).lost_at + orphan_time; };
  landings_.for_each([&](landing& each) {
    if (!each.orphaned) return;
    if (each.in_flight != 0 && overdue(each.process) && settings_.ended && settings_.ended(each.process)) {
      // Its sender has ended, and what it had sent has been read long ago.
      slots_.disown(&each);
      each.in_flight = 0;
    }
    any_orphans_ = any_orphans_ || each.in_flight != 0;
    settle(each);
  });
  departures_.for_each([&](departure& each) {
    if (!each.orphaned) return;
    if (each.in_flight != 0 && !overdue(each.process)) {
      any_orphans_ = true;
      return;
    }
    // What the provider still reads goes nowhere.
    slots_.disown(&each);
    each.in_flight = 0;
    if (each.kept != nullptr) {
      abandoned_.push_back(std::move(each.kept));
      flow_.note_left(each.bytes);
    }
    settle(each);
  });
}

}  // namespace weft::fabric

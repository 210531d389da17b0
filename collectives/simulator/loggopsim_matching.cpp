// SPDX-License-Identifier: Apache-2.0
#include "loggopsim_matching.hpp"

namespace weft::simulator {

loggopsim_matching::loggopsim_matching(const workload& all)
    : all_(all), places_(all.is_goal() ? all.channels() : all.steps()), after_(all.steps(), nothing) {}

std::optional<meeting> loggopsim_matching::post(int rank, step_index receive) {
  place& here = of_receive(rank, receive);
  if (here.first == nothing || !here.messages) {
    append(here, rank, receive, false);
    return std::nullopt;
  }
  const int sender = all_.to(rank, all_.of(rank).steps[receive]).peer;
  return meeting{sender, take(here, sender)};
}

std::optional<step_index> loggopsim_matching::arrive(const meeting& send) {
  place& there = of_send(send);
  if (there.first == nothing || there.messages) {
    append(there, send.rank, send.step, true);
    return std::nullopt;
  }
  return take(there, all_.to(send.rank, all_.of(send.rank).steps[send.step]).peer);
}

loggopsim_matching::place& loggopsim_matching::of_receive(int rank, step_index receive) {
  return places_[all_.is_goal() ? all_.receiving_channel(rank, all_.of(rank).steps[receive])
                                : all_.number(rank, receive)];
}

loggopsim_matching::place& loggopsim_matching::of_send(const meeting& send) {
  if (all_.is_goal()) return places_[all_.receiving_channel(send.rank, all_.of(send.rank).steps[send.step])];
  const meeting receive = all_.other_side(send.rank, send.step);
  return places_[all_.number(receive.rank, receive.step)];
}

step_index loggopsim_matching::take(place& from, int rank) {
  const step_index first = from.first;
  from.first = after_[all_.number(rank, first)];
  return first;
}

void loggopsim_matching::append(place& to, int rank, step_index step, bool messages) {
  after_[all_.number(rank, step)] = nothing;
  if (to.first == nothing) {
    to.first = step;
    to.messages = messages;
  } else {
    after_[all_.number(rank, to.last)] = step;
  }
  to.last = step;
}

}  // namespace weft::simulator

#include <weft/simulator/workload.hpp>

namespace weft::simulator {

std::uint64_t workload::amount(int rank, step_index step) const {
  const rank_data& of = at(rank);
  const std::uint8_t* const byte = amount_indices_.data() + of.first_amount + std::uint64_t{step} * of.amount_width;
  std::uint32_t index = byte[0];
  for (unsigned i = 1; i < of.amount_width; ++i) index |= std::uint32_t{byte[i]} << (8 * i);
  return amounts_[index];
}

operation workload::describe(int rank, step_index step) const {
  const shape::step& s = of(rank).steps[step];
  operation what{s.kind, -1, 0, amount(rank, step), s.cpu, s.nic};
  if (is_message(s.kind)) {
    what.peer = to(rank, s).peer;
    what.tag = to(rank, s).tag;
  }
  return what;
}

meeting workload::other_side(int rank, step_index message) const {
  const shape::step& here = of(rank).steps[message];
  const channel& through = to(rank, here);
  const shape& peer = of(through.peer);
  const shape::channel& there = peer.channels[through.reverse];
  const auto messages = shape::part(peer.messages, here.kind == operation_kind::send ? there.receives : there.sends);
  return {through.peer, messages[here.ordinal]};
}

std::string name_of(const workload& all, int rank, step_index step) {
  const operation what = all.describe(rank, step);
  std::string name = "step " + std::to_string(step) + " (";
  const std::string amount = std::to_string(what.amount);
  const std::string tag = what.tag == 0 ? "" : ", tag " + std::to_string(what.tag);
  switch (what.kind) {
    case operation_kind::send:
      name += "send of " + amount + " bytes to rank " + std::to_string(what.peer) + tag;
      break;
    case operation_kind::receive:
      name += "receive of " + amount + " bytes from rank " + std::to_string(what.peer) + tag;
      break;
    case operation_kind::combine:
      name += "combine of " + amount + " bytes";
      break;
    case operation_kind::calculate:
      name += "calculation of " + amount;
      break;
  }
  return name + ")";
}

}  // namespace weft::simulator

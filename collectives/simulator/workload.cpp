// SPDX-License-Identifier: Apache-2.0
#include <weft/simulator/workload.hpp>

namespace weft::simulator {

operation workload::describe(int rank, step_index step) const {
  const shape::step& s = of(rank).steps[step];
  operation what{s.kind, -1, 0, amount(rank, step), s.cpu, s.nic};
  if (is_message(s.kind)) {
    what.peer = to(rank, s).peer;
    what.tag = to(rank, s).tag;
  }
  return what;
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
    case operation_kind::fetch:
      name += "reading of " + amount + " bytes";
      break;
    case operation_kind::fetch_and_combine:
      name += "reading and combine of " + amount + " bytes";
      break;
    case operation_kind::calculate:
      name += "calculation of " + amount;
      break;
  }
  return name + ")";
}

}  // namespace weft::simulator

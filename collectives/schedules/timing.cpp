#include <algorithm>
#include <tuple>
#include <weft/schedules/timing.hpp>

#include "arguments.hpp"

namespace weft::schedules {

double combined_at(std::vector<double> ready, double transfer, double compute) {
  std::sort(ready.begin(), ready.end());
  const double pace = std::max(transfer, compute);
  double latest = 0;
  for (std::size_t j = 0; j < ready.size(); ++j) {
    const auto following = static_cast<double>(ready.size() - 1 - j);
    latest = std::max(latest, ready[j] + transfer + following * pace + compute);
  }
  return latest;
}

reduce_timing timing(const tree& of, double transfer, double compute) {
  check_cost(transfer, "transfer");
  check_cost(compute, "compute");
  std::vector<double> ready(static_cast<std::size_t>(of.ranks()));
  const auto ready_at = [&](int rank) -> double& { return ready[static_cast<std::size_t>(rank)]; };
  const auto order = of.from_root();
  reduce_timing result;
  result.edges.reserve(order.size() - 1);
  std::vector<int> senders;
  std::vector<double> times;
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    const auto children = of.children(*node);
    senders.assign(children.begin(), children.end());
    std::stable_sort(senders.begin(), senders.end(), [&](int a, int b) { return ready_at(a) < ready_at(b); });
    double port_free = 0;
    times.clear();
    for (const int sender : senders) {
      const double start = std::max(port_free, ready_at(sender));
      port_free = start + transfer;
      result.edges.push_back({sender, *node, start, port_free});
      times.push_back(ready_at(sender));
    }
    ready_at(*node) = combined_at(times, transfer, compute);
  }
  result.length = ready_at(of.root());
  std::sort(result.edges.begin(), result.edges.end(), [](const timed_edge& a, const timed_edge& b) {
    return std::tie(a.start, a.from) < std::tie(b.start, b.from);
  });
  return result;
}

}  // namespace weft::schedules

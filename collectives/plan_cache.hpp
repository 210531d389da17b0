// Bound schedules and executions that were used before, by shape.
#pragma once

#include "execution.hpp"
#include "fingerprint.hpp"

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace weft::detail {

struct call_hash {
  std::size_t operator()(const collective_call& call) const noexcept {
    const std::uint64_t mixed = (fingerprint(call) ^ (std::uint64_t{call.segments} << 40)) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(mixed ^ (mixed >> 31));
  }
};

/// One rank's plans for one communicator, least recently used first out when they take more than `limit` bytes. Used by
/// that rank alone.
class plan_cache {
 public:
  struct entry {
    collective_call call;
    std::shared_ptr<const bound_schedule> plan;
    std::vector<std::unique_ptr<in_order_execution>> in_order;  ///< at rest
    std::vector<std::unique_ptr<dataflow_execution>> dataflow;  ///< at rest
    std::size_t bytes = 0;                                      ///< of the plan and what is at rest
    bool dropped = false;                                       ///< is in no cache any more
  };

  explicit plan_cache(std::size_t limit) : limit_(limit) {}

  /// The entry of that shape, now the most recently used; null when there is none.
  std::shared_ptr<entry> find(const collective_call& call);
  std::shared_ptr<entry> add(const collective_call& call, std::shared_ptr<const bound_schedule> plan);

  /// Gives an execution back for the next call of that shape. Frees it when its entry has been dropped.
  void put_back(const std::shared_ptr<entry>& to, std::unique_ptr<in_order_execution> at_rest) { keep(to, to->in_order, std::move(at_rest)); }
  void put_back(const std::shared_ptr<entry>& to, std::unique_ptr<dataflow_execution> at_rest) { keep(to, to->dataflow, std::move(at_rest)); }

 private:
  template <class Execution>
  void keep(const std::shared_ptr<entry>& to, std::vector<std::unique_ptr<Execution>>& list, std::unique_ptr<Execution> at_rest) {
    if (to->dropped) return;
    const std::size_t bytes = to->plan->scratch_bytes + to->plan->steps.size() * sizeof(fabric::receive_operation);
    list.push_back(std::move(at_rest));
    to->bytes += bytes;
    used_ += bytes;
    shrink();
  }
  void shrink();

  using order = std::list<std::shared_ptr<entry>>;
  std::size_t limit_;
  std::size_t used_ = 0;
  order recent_;  // most recently used first
  std::unordered_map<collective_call, order::iterator, call_hash> entries_;
};

}  // namespace weft::detail

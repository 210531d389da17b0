// SPDX-License-Identifier: Apache-2.0
// Bound schedules and executions that were used before, by shape.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <list>
#include <memory>
#include <type_traits>
#include <unordered_map>
#include <vector>
#include <weft/executor/execution.hpp>
#include <weft/request/collective_call.hpp>
#include <weft/request/fingerprint.hpp>
#include <weft/runtime/error.hpp>
#include <weft/runtime/memory_budget.hpp>

namespace weft::detail {

struct call_hash {
  std::size_t operator()(const collective_call& call) const noexcept {
    std::uint64_t mixed = (fingerprint(call) ^ (std::uint64_t{call.segments} << 40)) * 0x9e3779b97f4a7c15u;
    for (const auto* each : {&call.counts, &call.displacements, &call.received_displacements})
      for (const std::size_t one : *each) mixed = (mixed ^ mixed >> 29 ^ one) * 0x9e3779b97f4a7c15u;
    for (const double one : call.arrivals)
      mixed = (mixed ^ mixed >> 29 ^ std::bit_cast<std::uint64_t>(one)) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(mixed ^ (mixed >> 31));
  }
};

/// One rank's plans for one communicator, least recently used first out when they take more than `limit` bytes, or
/// memory is scarce: then what is not used is not kept. Used by whoever makes the rank's calls, one at a time; what ran
/// for an operation in flight comes back from any thread.
class plan_cache {
 public:
  struct entry {
    collective_call call;
    std::uint64_t fingerprint = 0;  ///< of the call
    std::shared_ptr<const bound_schedule> plan;
    bool runs_in_order = true;                                  ///< where it blocks
    std::vector<std::unique_ptr<in_order_execution>> in_order;  ///< at rest
    std::vector<std::unique_ptr<dataflow_execution>> dataflow;  ///< at rest
    std::size_t bytes = 0;                                      ///< of the plan and what is at rest
    bool dropped = false;                                       ///< is in no cache any more

    template <class Execution>
    std::vector<std::unique_ptr<Execution>>& at_rest() noexcept {
      if constexpr (std::is_same_v<Execution, in_order_execution>)
        return in_order;
      else
        return dataflow;
    }
  };

  /// A run that has ended, on its way back.
  struct ended_run {
    std::shared_ptr<entry> of;
    std::unique_ptr<dataflow_execution> run;
    ended_run* next = nullptr;
  };

  explicit plan_cache(std::size_t limit, std::shared_ptr<memory_budget> memory = nullptr)
      : limit_(limit), memory_(std::move(memory)) {}
  plan_cache(const plan_cache&) = delete;
  plan_cache& operator=(const plan_cache&) = delete;
  ~plan_cache() { delete_all(ended_.load(std::memory_order_relaxed)); }  // relaxed: nobody else has it any more

  /// The entry of that shape, now the most recently used; null when there is none.
  std::shared_ptr<entry> find(const collective_call& call);
  /// One that is in the cache from now on, where there is memory to keep it. Throws std::bad_alloc,
  /// errc::out_of_memory.
  std::shared_ptr<entry> add(const collective_call& call, std::shared_ptr<const bound_schedule> plan);

  /// The entry that was noted last, if that was for this key: programs repeat their calls, and one like the latest
  /// needs no choice and no look-up.
  std::shared_ptr<entry> noted(const call_key& key) const { return key == noted_for_ ? noted_ : nullptr; }
  void note(const call_key& key, std::shared_ptr<entry> used) noexcept {
    noted_for_ = key;
    noted_ = used != nullptr && used->dropped ? nullptr : std::move(used);
  }

  /// An execution of that entry that is at rest; null when there is none.
  template <class Execution>
  std::unique_ptr<Execution> take(entry& from) {
    collect_ended();
    auto& list = from.at_rest<Execution>();
    if (list.empty()) return nullptr;
    auto taken = std::move(list.back());
    list.pop_back();
    count(from, -bytes_of(*taken));
    return taken;
  }
  /// A new one of that plan, for which plans go where there is too little memory. Throws as `add`.
  template <class Execution>
  std::unique_ptr<Execution> make(fabric::messenger& messages, fabric::participant& member, const fabric::arena* shared,
                                  const std::shared_ptr<const bound_schedule>& plan) {
    try {
      return std::make_unique<Execution>(messages, member, shared, plan);
    } catch (const error& failed) {
      if (failed.code() != errc::out_of_memory || recent_.empty()) throw;
    }
    while (!recent_.empty()) drop_last();
    return std::make_unique<Execution>(messages, member, shared, plan);
  }
  /// Gives an execution back for the next call of that shape. Frees it when its entry has been dropped, or it is long
  /// and memory is scarce.
  template <class Execution>
  void put_back(const std::shared_ptr<entry>& to, std::unique_ptr<Execution> ended) {
    const std::ptrdiff_t bytes = bytes_of(*ended);
    if (to->dropped || (bytes > long_run && is_scarce())) return;
    to->at_rest<Execution>().push_back(std::move(ended));
    count(*to, bytes);
    shrink();
  }

  /// The same from any thread, at any time: it is at rest from the next `take` on.
  void put_back_later(std::unique_ptr<ended_run> ended) noexcept;

  /// Bytes of memory that all plans and executions at rest take, with what is remembered of them.
  std::size_t used() const noexcept { return used_; }

 private:
  void count(entry& of, std::ptrdiff_t bytes) noexcept {
    of.bytes += static_cast<std::size_t>(bytes);
    used_ += static_cast<std::size_t>(bytes);
  }
  /// Of one at rest, with its place in the list.
  static std::ptrdiff_t bytes_of(const execution& at_rest) noexcept {
    return static_cast<std::ptrdiff_t>(at_rest.footprint() + sizeof(void*));
  }
  /// What a plan of that call takes beside the plan.
  static std::size_t own_bytes(const collective_call& call) noexcept;
  /// From there on a run's memory is not kept where memory is scarce. Shorter calls, which repeat, take none each time.
  static constexpr std::ptrdiff_t long_run = 64 << 10;
  bool is_scarce() const noexcept { return memory_ != nullptr && memory_->is_scarce(); }
  void drop_last() noexcept;
  void shrink() noexcept;
  void collect_ended();
  static void delete_all(ended_run* first) noexcept;

  using order = std::list<std::shared_ptr<entry>>;
  std::size_t limit_;
  const std::shared_ptr<memory_budget> memory_;
  std::size_t used_ = 0;
  order recent_;  // most recently used first
  std::unordered_map<collective_call, order::iterator, call_hash> entries_;
  call_key noted_for_;
  std::shared_ptr<entry> noted_;
  std::atomic<ended_run*> ended_{nullptr};  ///< the last that came, and those before it
};

}  // namespace weft::detail

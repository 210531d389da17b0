// SPDX-License-Identifier: Apache-2.0
// Collectives that are planned once and started many times.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <weft/calls/accumulators.hpp>
#include <weft/calls/front_result.hpp>
#include <weft/calls/packed_buffers.hpp>
#include <weft/calls/planned_operation.hpp>
#include <weft/request/call_counts.hpp>
#include <weft/runtime/copy_bytes.hpp>

namespace weft::detail {

/// One rank's. What a start does is left to who derives.
class planned_collective : public planned_operation {
 public:
  /// Where its starts are counted; before the first.
  void count_by(const counted_calls& counted) noexcept { counted_ = counted; }
  /// Its call is that of `blocks`, which each start packs; before the first.
  void pack_by(packed_buffers&& blocks) { packed_ = std::move(blocks); }
  void deliver() noexcept override {
    if (sums_) write_values(*sums_, to_);
    if (!std::exchange(is_due_, false)) return;
    result_.move();
    if (packed_) packed_->unpack();
  }

 protected:
  planned_collective(std::shared_ptr<communicator_state> its, const request& call, const request_shape& shape)
      : planned_operation(std::move(its), schedules::call_name(call.what)), bound_(call), in_(call.in) {
    if (call.reproducible) {
      sums_.emplace(call.type, call.in, call.in_count, state().host.budget());
      bound_ = of_accumulators(call, shape, *sums_);
      to_ = target_of(call, shape);
    } else if (call.what == collective::alltoall && call.in == call.out) {
      copied_ = call.in_count * call.element_bytes;
      copy_charge_ = memory_charge(state().host.budget(), copied_, "the input of an all-to-all in place");
      copy_ = std::make_unique_for_overwrite<std::byte[]>(copied_);
      bound_.in = copy_.get();
    } else if (is_at_front(call, shape)) {
      result_ = front_result(call, shape);
      bound_ = result_.of_block(call);
    }
  }

  /// The call that each start makes.
  const request& bound() const noexcept { return bound_; }

 private:
  void begin() final {
    if (packed_) packed_->pack();
    copy_bytes(copy_.get(), in_, copied_);
    if (sums_) sums_->refill(in_);
    is_due_ = true;
    counted_.add(statistics::form::planned);
    begin_run();
  }
  virtual void begin_run() = 0;

  request bound_;  // keeps the caller's operator
  const void* in_;
  std::optional<accumulators> sums_;
  value_target to_;
  memory_charge copy_charge_;
  std::unique_ptr<std::byte[]> copy_;  // of the input that an all-to-all in place would write
  std::size_t copied_ = 0;             // bytes
  front_result result_;
  std::optional<packed_buffers> packed_;
  bool is_due_ = false;  // to be delivered, of the latest start
  counted_calls counted_;
};

}  // namespace weft::detail

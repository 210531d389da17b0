// SPDX-License-Identifier: Apache-2.0
#include <weft/request/collective_call.hpp>

namespace weft::detail {

collective_call planned_call(const request& wanted, const schedules::selected& found, int root, std::size_t count) {
  collective_call call;
  call.how = found.how;
  call.segments = found.segments;
  call.degree = found.degree;
  call.arrivals = found.arrivals;
  call.root = root;
  call.count = count;
  if (!schedules::combines(wanted.what)) {
    call.count *= wanted.element_bytes;  // bytes, since ranks may see what is only moved as elements of different sizes
    return call;
  }
  call.custom = wanted.by;
  if (call.custom == custom_operator::none) {
    call.op = wanted.op;
    call.type = wanted.type;
  }
  call.element_bytes = static_cast<std::uint32_t>(wanted.element_bytes);
  return call;
}

collective_call agreed_call(const request& wanted, const request_shape& shape) {
  schedules::selected any;
  any.how = schedules::algorithms_of(wanted.what).data();
  collective_call all =
      planned_call(wanted, any, wanted.root, schedules::has_blocks(wanted.what) ? shape.block : shape.vector);
  if (wanted.uneven) set_counts(all, wanted, counts_of(wanted));
  return all;
}

void set_counts(collective_call& call, const request& wanted, std::vector<std::size_t> counts) {
  call.count = 0;
  call.counts = std::move(counts);
  if (!schedules::combines(wanted.what))
    for (std::size_t& count : call.counts) count *= wanted.element_bytes;
}

void set_blocks(collective_call& call, const request& wanted, const request_shape& shape, int rank, int ranks) {
  const auto in_bytes = [&](std::span<const std::size_t> where) {
    std::vector<std::size_t> all(where.begin(), where.end());
    for (std::size_t& each : all) each *= wanted.element_bytes;
    return all;
  };
  call.at_root = wanted.at_root;
  if (wanted.at_root && rank != wanted.root) {
    std::vector<std::size_t> own(static_cast<std::size_t>(ranks), 0);
    own[static_cast<std::size_t>(rank)] = shape.block;
    return set_counts(call, wanted, std::move(own));
  }
  set_counts(call, wanted, counts_of(wanted));
  call.displacements = in_bytes(wanted.displacements);
  call.received_displacements = in_bytes(wanted.received_displacements);
}

std::vector<std::size_t> counts_of(const request& wanted) {
  std::vector<std::size_t> all(wanted.counts.begin(), wanted.counts.end());
  all.insert(all.end(), wanted.received.begin(), wanted.received.end());
  return all;
}

}  // namespace weft::detail

// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <utility>
#include <weft/calls/accumulators.hpp>

namespace weft::detail {
namespace {

kernels::type accumulators_of(kernels::type numbers) noexcept {
  return numbers == kernels::type::float32 ? kernels::type::reproducible_float32 : kernels::type::reproducible_float64;
}

template <class T>
std::vector<reproducible<T>> accumulate(const void* in, std::size_t count) {
  std::vector<reproducible<T>> all(count);
  kernels::accumulate_each(std::span(static_cast<const T*>(in), count), all.data());
  return all;
}

template <class T>
void write_values(std::span<const reproducible<T>> from, void* out) noexcept {
  kernels::value_of_each(from, static_cast<T*>(out));
}

}  // namespace

accumulators::accumulators(kernels::type numbers, const void* in, std::size_t count,
                           std::shared_ptr<memory_budget> memory)
    : charge_(std::move(memory), count * kernels::size_of(accumulators_of(numbers)), "the accumulators of a sum") {
  if (numbers == kernels::type::float32)
    all_ = accumulate<float>(in, count);
  else
    all_ = accumulate<double>(in, count);
}

void accumulators::refill(const void* in) noexcept {
  std::visit(
      [in]<class T>(std::vector<reproducible<T>>& all) {
        kernels::accumulate_each(std::span(static_cast<const T*>(in), all.size()), all.data());
      },
      all_);
}

void* accumulators::data() noexcept {
  return std::visit([](auto& all) -> void* { return all.data(); }, all_);
}

kernels::type accumulators::type() const noexcept {
  return accumulators_of(all_.index() == 0 ? kernels::type::float32 : kernels::type::float64);
}

void accumulators::values(std::size_t first, std::size_t count, void* out) const noexcept {
  std::visit([=](const auto& all) { write_values(std::span(all).subspan(first, count), out); }, all_);
}

request of_accumulators(request call, const request_shape& shape, accumulators& sums) {
  call.type = sums.type();
  call.element_bytes = kernels::size_of(sums.type());
  call.in = sums.data();
  call.out = static_cast<std::byte*>(sums.data()) + shape.before * call.element_bytes;
  call.reproducible = false;
  return call;
}

value_target target_of(const request& call, const request_shape& shape) {
  if (!shape.with_output) return {};
  return {call.out, shape.before, call.out_count};
}

}  // namespace weft::detail

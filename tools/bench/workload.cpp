// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <weft/kernels/combine.hpp>
#include <weft/schedules/collective.hpp>

#include "values.hpp"

namespace weft::tools {
namespace {

using schedules::collective;

constexpr int root = 0;

/// How many ranks, from 0 on, contribute to what this rank gets; 0: it gets nothing.
int contributors(const communicator& world, collective what) {
  if (what == collective::reduce && world.rank() != root) return 0;
  if (what == collective::scan) return world.rank() + 1;
  return what == collective::exscan ? world.rank() : world.size();
}

template <class T>
class reduction final : public workload {
 public:
  reduction(communicator& world, collective what, kernels::operation op, std::size_t count, runtime* arena)
      : world_(world),
        what_(what),
        op_(op),
        contributors_(contributors(world, what)),
        first_(what == collective::reduce_scatter ? static_cast<std::size_t>(world.rank()) * count : 0),
        in_(what == collective::reduce_scatter ? static_cast<std::size_t>(world.size()) * count : count, arena),
        out_(contributors_ == 0 ? 0 : count, arena) {}

  void prepare(std::uint64_t seed) override {
    fill(in_.span(), op_, seed, world_.rank());
    poison(out_.span());
  }

  /// Block by block, so that the exact result stays in a cache while the ranks are gone through.
  std::int64_t count_wrong(std::uint64_t seed) override {
    constexpr std::size_t block = 4096;
    const auto combine = kernels::combine(op_, kernels::type_of<T>);
    const auto out = out_.span();
    const array<T> exact(std::min(block, out.size())), others(std::min(block, out.size()));
    std::int64_t wrong = 0;
    for (std::size_t from = 0; from < out.size(); from += block) {
      const std::size_t count = std::min(block, out.size() - from);
      const std::array<const void*, 2> both{exact.span().data(), others.span().data()};
      fill(exact.span().first(count), op_, seed, 0, first_ + from);
      for (int rank = 1; rank < contributors_; ++rank) {
        fill(others.span().first(count), op_, seed, rank, first_ + from);
        combine(both.data(), both.size(), exact.span().data(), count);
      }
      wrong += count_differences<T>(out.subspan(from, count), exact.span().first(count));
    }
    return wrong;
  }

 private:
  void run() override {
    const std::span<T> in = in_.span(), out = out_.span();
    const reduction_operator op(op_);
    switch (what_) {
      case collective::reduce:
        return world_.reduce(in, out, op, root);
      case collective::reduce_scatter:
        return world_.reduce_scatter(in, out, op);
      case collective::scan:
        return world_.scan(in, out, op);
      case collective::exscan:
        return world_.exscan(in, out, op);
      default:
        return world_.allreduce(in, out, op);
    }
  }
  handle started() override {
    const std::span<T> in = in_.span(), out = out_.span();
    const reduction_operator op(op_);
    switch (what_) {
      case collective::reduce:
        return world_.ireduce(in, out, op, root);
      case collective::reduce_scatter:
        return world_.ireduce_scatter(in, out, op);
      case collective::scan:
        return world_.iscan(in, out, op);
      case collective::exscan:
        return world_.iexscan(in, out, op);
      default:
        return world_.iallreduce(in, out, op);
    }
  }
  plan planned() override {
    const std::span<T> in = in_.span(), out = out_.span();
    const reduction_operator op(op_);
    switch (what_) {
      case collective::reduce:
        return world_.plan_reduce(in, out, op, root);
      case collective::reduce_scatter:
        return world_.plan_reduce_scatter(in, out, op);
      case collective::scan:
        return world_.plan_scan(in, out, op);
      case collective::exscan:
        return world_.plan_exscan(in, out, op);
      default:
        return world_.plan_allreduce(in, out, op);
    }
  }

  communicator& world_;
  collective what_;
  kernels::operation op_;
  int contributors_;
  std::size_t first_;  ///< which input element the first of the output is made of
  array<T> in_, out_;
};

/// Elements of the others, as they are.
template <class T>
class movement final : public workload {
 public:
  movement(communicator& world, collective what, std::size_t count, runtime* arena)
      : world_(world),
        what_(what),
        count_(count),
        in_(blocks_in(world, what) * count, arena),
        out_(blocks_out(world, what) * count, arena) {}

  void prepare(std::uint64_t seed) override {
    fill(in_.span(), values, seed, world_.rank());
    if (what_ == collective::broadcast && world_.rank() == root)
      fill(out_.span(), values, seed, root);
    else
      poison(out_.span());
  }

  std::int64_t count_wrong(std::uint64_t seed) override {
    const bool from_root = what_ == collective::broadcast || what_ == collective::scatter;
    const bool own_block = what_ == collective::scatter || what_ == collective::alltoall;
    const std::size_t first = own_block ? static_cast<std::size_t>(world_.rank()) * count_ : 0;
    const array<T> exact(count_);
    std::int64_t wrong = 0;
    for (std::size_t block = 0; block * count_ < out_.span().size(); ++block) {
      fill(exact.span(), values, seed, from_root ? root : static_cast<int>(block), first);
      wrong += count_differences<T>(out_.span().subspan(block * count_, count_), exact.span());
    }
    return wrong;
  }

 private:
  static constexpr kernels::operation values = kernels::operation::max;

  void run() override {
    const std::span<T> in = in_.span(), out = out_.span();
    switch (what_) {
      case collective::allgather:
        return world_.allgather(in, out);
      case collective::gather:
        return world_.gather(in, out, root);
      case collective::scatter:
        return world_.scatter(in, out, root);
      case collective::alltoall:
        return world_.alltoall(in, out);
      default:
        return world_.bcast(out, root);
    }
  }
  handle started() override {
    const std::span<T> in = in_.span(), out = out_.span();
    switch (what_) {
      case collective::allgather:
        return world_.iallgather(in, out);
      case collective::gather:
        return world_.igather(in, out, root);
      case collective::scatter:
        return world_.iscatter(in, out, root);
      case collective::alltoall:
        return world_.ialltoall(in, out);
      default:
        return world_.ibcast(out, root);
    }
  }
  plan planned() override {
    const std::span<T> in = in_.span(), out = out_.span();
    switch (what_) {
      case collective::allgather:
        return world_.plan_allgather(in, out);
      case collective::gather:
        return world_.plan_gather(in, out, root);
      case collective::scatter:
        return world_.plan_scatter(in, out, root);
      case collective::alltoall:
        return world_.plan_alltoall(in, out);
      default:
        return world_.plan_bcast(out, root);
    }
  }

  static std::size_t blocks_in(const communicator& world, collective what) {
    const auto all = static_cast<std::size_t>(world.size());
    if (what == collective::broadcast) return 0;  // its root's input is the output
    if (what == collective::scatter) return world.rank() == root ? all : 0;
    return what == collective::alltoall ? all : 1;
  }
  static std::size_t blocks_out(const communicator& world, collective what) {
    const auto all = static_cast<std::size_t>(world.size());
    if (what == collective::gather) return world.rank() == root ? all : 0;
    return what == collective::allgather || what == collective::alltoall ? all : 1;
  }

  communicator& world_;
  collective what_;
  std::size_t count_;
  array<T> in_, out_;
};

/// Wrong is a rank that left before the last one had entered, by the machine's steady clock.
class barrier final : public workload {
 public:
  explicit barrier(communicator& world) : world_(world) {}

  void prepare(std::uint64_t) override {}

  std::int64_t count_wrong(std::uint64_t) override {
    const std::int64_t left = now();
    std::array<std::int64_t, 1> last{};
    world_.allreduce(std::array{entered_}, last, max);
    return left < last[0] ? 1 : 0;
  }

 private:
  void enter() override { entered_ = now(); }
  void run() override { world_.barrier(); }
  handle started() override { return world_.ibarrier(); }
  plan planned() override { return world_.plan_barrier(); }

  static std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }

  communicator& world_;
  std::int64_t entered_ = 0;
};

template <class T>
std::unique_ptr<workload> make_of(communicator& world, const bench_settings& settings, std::size_t bytes,
                                  runtime* arena) {
  const collective what = schedules::find_collective(settings.collective).value();
  const std::size_t count = count_of(settings, bytes);
  if (schedules::combines(what)) return std::make_unique<reduction<T>>(world, what, settings.op, count, arena);
  return std::make_unique<movement<T>>(world, what, count, arena);
}

/// Of the one of these types that the settings name.
template <class... T>
std::unique_ptr<workload> make(communicator& world, const bench_settings& settings, std::size_t bytes, runtime* arena) {
  std::unique_ptr<workload> made;
  ((kernels::type_of<T> == settings.type ? void(made = make_of<T>(world, settings, bytes, arena)) : void()), ...);
  return made;
}

}  // namespace

std::size_t count_of(const bench_settings& settings, std::size_t bytes) {
  return std::max<std::size_t>(1, bytes / kernels::size_of(settings.type));
}

std::unique_ptr<workload> make_workload(communicator& world, const bench_settings& settings, std::size_t bytes,
                                        runtime* arena) {
  if (settings.collective == "barrier") return std::make_unique<barrier>(world);
  try {
    return make<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                std::uint64_t, float16, bfloat16, float, double, std::complex<float>, std::complex<double>,
                located<float>, located<double>, located<std::int32_t>, located<std::int64_t>, bool, std::byte>(
        world, settings, bytes, arena);
  } catch (const std::exception&) {
    throw std::runtime_error((arena != nullptr ? "no memory that the node shares" : "no memory") +
                             (" for buffers of " + std::to_string(bytes)) + " bytes on each rank");
  }
}

}  // namespace weft::tools

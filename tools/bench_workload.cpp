#include "bench_workload.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace weft::tools {
namespace {

constexpr int root = 0;

/// splitmix64's finisher: every bit of the result depends on every bit of the argument.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Small whole numbers, so that the result is exact in every type and in whatever order they are combined: sums stay
/// below 2^24 up to 2^18 ranks, products below 2^9.
int input_value(kernels::operation op, std::uint64_t stream, std::size_t index, int rank) {
  const std::uint64_t random = mixed(stream + index * 0x9e3779b97f4a7c15u);
  if (op != kernels::operation::product) return static_cast<int>(random % 127) - 63;
  const int magnitude = rank < 8 ? 1 + static_cast<int>(random >> 1 & 1) : 1;
  return (random & 1) != 0 ? -magnitude : magnitude;
}

std::uint64_t stream_of(std::uint64_t seed, int rank) { return mixed(mixed(seed) + static_cast<std::uint64_t>(rank)); }

int combined(kernels::operation op, int a, int b) {
  switch (op) {
    case kernels::operation::sum:
      return a + b;
    case kernels::operation::product:
      return a * b;
    case kernels::operation::min:
      return std::min(a, b);
    case kernels::operation::max:
      return std::max(a, b);
    default:
      break;
  }
  throw std::logic_error("an operator without a meaning here");
}

template <class T>
void fill(std::vector<T>& values, kernels::operation op, std::uint64_t seed, int rank) {
  const std::uint64_t stream = stream_of(seed, rank);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(input_value(op, stream, i, rank));
}

/// About 1.5e9 as an integer of 32 bits, far more in the other types: no result is as large.
template <class T>
void poison(std::vector<T>& values) {
  std::ranges::fill(std::as_writable_bytes(std::span(values)), std::byte{0x5a});
}

template <class T>
std::size_t count_differences(const std::vector<T>& values, const std::vector<int>& exact, std::size_t from) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (values[from + i] != static_cast<T>(exact[i])) ++wrong;
  return wrong;
}

template <class T>
class reduction final : public workload {
 public:
  reduction(communicator& world, const bench_settings& settings, std::size_t count)
      : world_(world),
        op_(settings.op),
        to_all_(settings.collective == "allreduce"),
        in_(count),
        out_(to_all_ || world.rank() == root ? count : 0) {}

  void prepare(std::uint64_t seed) override {
    fill(in_, op_, seed, world_.rank());
    poison(out_);
  }

  void call() override {
    if (to_all_)
      world_.allreduce(in_, out_, reduction_operator{op_});
    else
      world_.reduce(in_, out_, reduction_operator{op_}, root);
  }

  /// Block by block, so that the exact result stays in a cache while the ranks are gone through.
  std::int64_t count_wrong(std::uint64_t seed) override {
    constexpr std::size_t block = 4096;
    std::size_t wrong = 0;
    std::vector<int> exact;
    for (std::size_t from = 0; from < out_.size(); from += block) {
      exact.resize(std::min(block, out_.size() - from));
      for (int rank = 0; rank < world_.size(); ++rank) {
        const std::uint64_t stream = stream_of(seed, rank);
        for (std::size_t i = 0; i < exact.size(); ++i) {
          const int value = input_value(op_, stream, from + i, rank);
          exact[i] = rank == 0 ? value : combined(op_, exact[i], value);
        }
      }
      wrong += count_differences(out_, exact, from);
    }
    return static_cast<std::int64_t>(wrong);
  }

 private:
  communicator& world_;
  kernels::operation op_;
  bool to_all_;
  std::vector<T> in_, out_;
};

template <class T>
class broadcast final : public workload {
 public:
  broadcast(communicator& world, std::size_t count) : world_(world), data_(count) {}

  void prepare(std::uint64_t seed) override {
    if (world_.rank() == root)
      fill(data_, kernels::operation::sum, seed, root);
    else
      poison(data_);
  }

  void call() override { world_.bcast(data_, root); }

  std::int64_t count_wrong(std::uint64_t seed) override {
    const std::uint64_t stream = stream_of(seed, root);
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < data_.size(); ++i)
      if (data_[i] != static_cast<T>(input_value(kernels::operation::sum, stream, i, root))) ++wrong;
    return wrong;
  }

 private:
  communicator& world_;
  std::vector<T> data_;
};

/// Wrong is a rank that left before the last one had entered, by the machine's steady clock.
class barrier final : public workload {
 public:
  explicit barrier(communicator& world) : world_(world) {}

  void prepare(std::uint64_t) override {}

  void call() override {
    entered_ = now();
    world_.barrier();
  }

  std::int64_t count_wrong(std::uint64_t) override {
    const std::int64_t left = now();
    std::array<std::int64_t, 1> last{};
    world_.allreduce(std::array{entered_}, last, max);
    return left < last[0] ? 1 : 0;
  }

 private:
  static std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }

  communicator& world_;
  std::int64_t entered_ = 0;
};

template <class T>
std::unique_ptr<workload> make(communicator& world, const bench_settings& settings, std::size_t bytes) {
  const std::size_t count = std::max<std::size_t>(1, bytes / sizeof(T));
  if (settings.collective == "bcast") return std::make_unique<broadcast<T>>(world, count);
  return std::make_unique<reduction<T>>(world, settings, count);
}

}  // namespace

std::unique_ptr<workload> make_workload(communicator& world, const bench_settings& settings, std::size_t bytes) {
  if (settings.collective == "barrier") return std::make_unique<barrier>(world);
  try {
    switch (settings.type) {
      case kernels::type::float32:
        return make<float>(world, settings, bytes);
      case kernels::type::float64:
        return make<double>(world, settings, bytes);
      case kernels::type::int32:
        return make<std::int32_t>(world, settings, bytes);
      case kernels::type::int64:
        return make<std::int64_t>(world, settings, bytes);
      default:
        break;
    }
  } catch (const std::exception&) {
    throw std::runtime_error("no memory for buffers of " + std::to_string(bytes) + " bytes on each rank");
  }
  throw std::logic_error("an element type without a meaning here");
}

}  // namespace weft::tools

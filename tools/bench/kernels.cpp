// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <weft/kernels/combine.hpp>
#include <weft/kernels/reproducible.hpp>

#include "handwritten.hpp"
#include "measurement.hpp"

namespace weft::tools {
namespace {

using kernels::combine, kernels::name, kernels::operation, kernels::size_of, kernels::type;
using work = std::function<void()>;

/// So that the compiler does not leave out what nobody reads.
volatile double kept;
void keep(double value) { kept = value; }

constexpr int alternations = 11;
constexpr std::size_t page = 4096;

/// Arrays that share a working set of so many bytes, written once.
class arrays {
 public:
  arrays(std::size_t how_many, std::size_t working_set)
      : bytes_(bytes_each(working_set, how_many)),
        memory_(static_cast<std::byte*>(std::aligned_alloc(page, (working_set + page - 1) / page * page)), &std::free) {
    if (memory_ == nullptr) throw std::bad_alloc();
    std::memset(memory_.get(), 0, how_many * bytes_);
  }
  std::size_t bytes() const { return bytes_; }
  std::byte* operator[](std::size_t i) const { return memory_.get() + i * bytes_; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;
};

/// Seconds of processor time for one call of each, in turn, `alternations` times.
std::vector<std::vector<double>> alternate(const std::vector<work>& calls, std::size_t working_set) {
  const std::size_t repeats = std::max<std::size_t>(1, (std::size_t{256} << 20) / working_set);
  std::vector<std::vector<double>> seconds(calls.size());
  for (const work& call : calls) call();
  for (int i = 0; i < alternations; ++i)
    for (std::size_t c = 0; c < calls.size(); ++c) {
      const double begin = processor_seconds();
      for (std::size_t r = 0; r < repeats; ++r) calls[c]();
      seconds[c].push_back((processor_seconds() - begin) / static_cast<double>(repeats));
    }
  return seconds;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// How many times as fast the first is: the median over the alternations.
double speed_ratio(const std::vector<double>& seconds, const std::vector<double>& others) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < seconds.size(); ++i) ratios.push_back(others[i] / seconds[i]);
  return median(ratios);
}

/// What was measured of one kernel.
struct result {
  double gigabytes_per_second;  ///< over all arrays
  std::optional<double> of_loop, of_copy, of_float;
};

class table {
 public:
  explicit table(bool json) : json_(json) {
    if (!json_)
      std::printf("%-32s %-7s %12s %12s %12s %12s\n", "what", "where", "GB/s", "of a loop", "of a copy", "of float");
  }

  void add(const std::string& what, const working_set& size, const result& measured) const {
    const std::array<std::pair<const char*, std::optional<double>>, 3> ratios{{
        {"of_loop", measured.of_loop},
        {"of_copy", measured.of_copy},
        {"of_float", measured.of_float},
    }};
    if (json_) {
      std::printf("{\"what\":\"%s\",\"where\":\"%s\",\"bytes\":%zu,\"gb_per_s\":%.1f", what.c_str(), size.where,
                  size.bytes, measured.gigabytes_per_second);
      for (const auto& [name, ratio] : ratios)
        if (ratio) std::printf(",\"%s\":%.3f", name, *ratio);
      std::printf("}\n");
    } else {
      std::printf("%-32s %-7s %12.1f", what.c_str(), size.where, measured.gigabytes_per_second);
      for (const auto& [name, ratio] : ratios) ratio ? std::printf(" %12.2f", *ratio) : std::printf(" %12s", "");
      std::printf("\n");
    }
    std::fflush(stdout);
  }

 private:
  bool json_;
};

struct kernel {
  operation op;
  type element;
  work loop;  ///< the same by hand, where there is such a loop

  std::string what() const { return std::string(name(op)) + " of " + std::string(name(element)); }
};

/// Two arrays into a third.
void measure_pairs(const table& into, const working_set& size) {
  const arrays memory(3, size.bytes);
  const std::array<const void*, 2> sources{memory[0], memory[1]};
  const auto loop = [&]<class T>(T) {
    return work([&memory] {
      handwritten::sum(reinterpret_cast<const T*>(memory[0]), reinterpret_cast<const T*>(memory[1]),
                       reinterpret_cast<T*>(memory[2]), memory.bytes() / sizeof(T));
    });
  };
  const std::vector<kernel> all{
      {operation::sum, type::float32, loop(float())},  // first: what the others are beside
      {operation::sum, type::float64, loop(double())},
      {operation::sum, type::bfloat16, {}},
      {operation::sum, type::float16, {}},
      {operation::min_location, type::located_float32, {}},
      {operation::max_location, type::located_float64, {}},
      {operation::sum, type::reproducible_float32, {}},
      {operation::sum, type::reproducible_float64, {}},
  };
  std::vector<work> calls{[&] { handwritten::copy_two(memory[0], memory[1], memory[2], memory.bytes()); },
                          [&] { handwritten::copy_two_streaming(memory[0], memory[1], memory[2], memory.bytes()); }};
  std::vector<std::size_t> at, loop_at;
  for (const kernel& each : all) {
    at.push_back(calls.size());
    calls.push_back([&, count = memory.bytes() / size_of(each.element), function = combine(each.op, each.element)] {
      function(sources.data(), 2, memory[2], count);
    });
    loop_at.push_back(calls.size());
    if (each.loop) calls.push_back(each.loop);
  }
  const auto seconds = alternate(calls, size.bytes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto ratio = [&](std::size_t to) { return speed_ratio(seconds[at[i]], seconds[to]); };
    result measured{3e-9 * static_cast<double>(memory.bytes()) / median(seconds[at[i]]), {}, {}, {}};
    if (all[i].loop) measured.of_loop = ratio(loop_at[i]);
    measured.of_copy = std::min(ratio(0), ratio(1));  // of the faster one
    if (i != 0) measured.of_float = ratio(at[0]);
    into.add(all[i].what(), size, measured);
  }
}

/// Four sources at once beside three calls with two: the column "of a loop" is then of those.
void measure_four_sources(const table& into, const working_set& size) {
  const arrays memory(5, size.bytes);
  const auto function = combine(operation::sum, type::float32);
  const std::size_t count = memory.bytes() / sizeof(float);
  const auto at_once = [&] {
    const std::array<const void*, 4> sources{memory[0], memory[1], memory[2], memory[3]};
    function(sources.data(), 4, memory[4], count);
  };
  const auto in_turn = [&] {
    function(std::array<const void*, 2>{memory[0], memory[1]}.data(), 2, memory[4], count);
    function(std::array<const void*, 2>{memory[4], memory[2]}.data(), 2, memory[4], count);
    function(std::array<const void*, 2>{memory[4], memory[3]}.data(), 2, memory[4], count);
  };
  const auto seconds = alternate({at_once, in_turn}, size.bytes);
  into.add(
      "4 floats, 3 calls", size,
      {5e-9 * static_cast<double>(memory.bytes()) / median(seconds[0]), speed_ratio(seconds[0], seconds[1]), {}, {}});
}

/// One array added to a reproducible sum, beside a plain sum of it.
template <class T>
void measure_additions(const table& into, const working_set& size) {
  const arrays memory(1, size.bytes);
  const std::span elements(reinterpret_cast<T*>(memory[0]), memory.bytes() / sizeof(T));
  const auto reproducibly = [&] {
    reproducible<T> sum;
    sum.add(elements);
    keep(sum.value());
  };
  const auto plainly = [&] { keep(handwritten::total(elements.data(), elements.size())); };
  const auto measure = [&](const char* of_what) {
    const auto seconds = alternate({reproducibly, plainly}, size.bytes);
    into.add(
        "reproducible add, " + std::string(name(kernels::type_of<T>)) + of_what, size,
        {1e-9 * static_cast<double>(memory.bytes()) / median(seconds[0]), speed_ratio(seconds[0], seconds[1]), {}, {}});
  };
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = T(1) + T(i % 61) / 64;
  measure(", 2 bins");
  for (std::size_t i = 0; i < elements.size(); i += 61) elements[i] = 0;
  measure(", 3 bins");
}

}  // namespace

std::vector<working_set> working_sets_beside(std::size_t first_cache, std::size_t second_cache) {
  return {{"L1", first_cache / 2},
          {"L2", second_cache / 2},
          {"24 MiB", std::size_t{24} << 20},
          {"30 MiB", std::size_t{30} << 20},
          {"memory", std::size_t{2} << 30}};
}

std::vector<working_set> working_sets() {
  const auto size_of_cache = [](int cache, long otherwise) {
    const long size = ::sysconf(cache);
    return static_cast<std::size_t>(size > 0 ? size : otherwise);
  };
  return working_sets_beside(size_of_cache(_SC_LEVEL1_DCACHE_SIZE, 32 << 10),
                             size_of_cache(_SC_LEVEL2_CACHE_SIZE, 1 << 20));
}

std::size_t bytes_each(std::size_t working_set, std::size_t arrays) {
  constexpr std::size_t alignment = 64;
  return working_set / arrays / alignment * alignment;
}

void bench_kernels(const std::vector<working_set>& sizes, bool json) {
  const table into(json);
  for (const auto measure : {measure_pairs, measure_four_sources, measure_additions<float>, measure_additions<double>})
    for (const working_set& size : sizes) measure(into, size);
}

}  // namespace weft::tools

#include "bench_kernels.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>
#include <weft/kernels/combine.hpp>

#include "bench_handwritten.hpp"

namespace weft::tools {
namespace {

using kernels::operation, kernels::type;
using work = std::function<void()>;

constexpr int alternations = 11;
constexpr std::size_t page = 4096;

/// Processor time of this thread: other processes disturb by their use of memory alone.
double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Arrays that share a working set of so many bytes, written once.
class arrays {
 public:
  arrays(std::size_t how_many, std::size_t working_set)
      : bytes_(working_set / how_many / page * page),
        memory_(static_cast<std::byte*>(std::aligned_alloc(page, how_many * bytes_)), &std::free) {
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

struct place {
  const char* name;
  std::size_t working_set;
};

std::vector<place> places() {
  const auto half_of = [](int cache, long otherwise) {
    const long size = ::sysconf(cache);
    return static_cast<std::size_t>(size > 0 ? size : otherwise) / 2;
  };
  return {{"L1", half_of(_SC_LEVEL1_DCACHE_SIZE, 32 << 10)},
          {"L2", half_of(_SC_LEVEL2_CACHE_SIZE, 1 << 20)},
          {"memory", std::size_t{2} << 30}};
}

class table {
 public:
  explicit table(bool json) : json_(json) {
    if (!json_)
      std::printf("%-18s %-7s %12s %12s %12s %12s\n", "what", "where", "GB/s", "of a loop", "of a copy", "of float");
  }
  /// Ratios of 0 were not measured.
  void add(const std::string& what, const place& where, double gigabytes, double of_loop, double of_copy,
           double of_float) const {
    if (json_) {
      std::printf(
          "{\"what\":\"%s\",\"where\":\"%s\",\"bytes\":%zu,\"gb_per_s\":%.1f,\"of_loop\":%.3f,\"of_copy\":%.3f,"
          "\"of_float\":%.3f}\n",
          what.c_str(), where.name, where.working_set, gigabytes, of_loop, of_copy, of_float);
      return;
    }
    std::printf("%-18s %-7s %12.1f", what.c_str(), where.name, gigabytes);
    for (const double ratio : {of_loop, of_copy, of_float})
      ratio == 0 ? std::printf(" %12s", "") : std::printf(" %12.2f", ratio);
    std::printf("\n");
    std::fflush(stdout);
  }

 private:
  bool json_;
};

/// A sum of two arrays into a third.
void measure_sums(const table& into, const place& where) {
  const arrays memory(3, where.working_set);
  const std::array<const void*, 2> sources{memory[0], memory[1]};
  const auto kernel = [&](type element) {
    return work([&sources, &memory, element, function = kernels::combine(operation::sum, element)] {
      function(sources.data(), 2, memory[2], memory.bytes() / kernels::size_of(element));
    });
  };
  const auto loop = [&]<class T>(T) {
    return work([&memory] {
      handwritten::sum(reinterpret_cast<const T*>(memory[0]), reinterpret_cast<const T*>(memory[1]),
                       reinterpret_cast<T*>(memory[2]), memory.bytes() / sizeof(T));
    });
  };
  const auto copy = [&] { handwritten::copy_two(memory[0], memory[1], memory[2], memory.bytes()); };
  const auto stream = [&] { handwritten::copy_two_streaming(memory[0], memory[1], memory[2], memory.bytes()); };
  const auto seconds = alternate({kernel(type::float32), loop(float()), copy, stream, kernel(type::float64),
                                  loop(double()), kernel(type::bfloat16), kernel(type::float16)},
                                 where.working_set);
  const auto speed = [&](std::size_t i) { return 3e-9 * static_cast<double>(memory.bytes()) / median(seconds[i]); };
  const auto ratio = [&](std::size_t i, std::size_t to) { return speed_ratio(seconds[i], seconds[to]); };
  const auto to_copy = [&](std::size_t i) { return std::min(ratio(i, 2), ratio(i, 3)); };  // of the faster copy
  into.add("sum of float", where, speed(0), ratio(0, 1), to_copy(0), 0);
  into.add("sum of double", where, speed(4), ratio(4, 5), to_copy(4), ratio(4, 0));
  into.add("sum of bfloat16", where, speed(6), 0, to_copy(6), ratio(6, 0));
  into.add("sum of float16", where, speed(7), 0, to_copy(7), ratio(7, 0));
}

/// Four sources at once beside three calls with two: the column "of a loop" is then of those.
void measure_four_sources(const table& into, const place& where) {
  const arrays memory(5, where.working_set);
  const auto function = kernels::combine(operation::sum, type::float32);
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
  const auto seconds = alternate({at_once, in_turn}, where.working_set);
  into.add("4 floats, 3 calls", where, 5e-9 * static_cast<double>(memory.bytes()) / median(seconds[0]),
           speed_ratio(seconds[0], seconds[1]), 0, 0);
}

}  // namespace

void bench_kernels(bool json) {
  const table into(json);
  for (const place& where : places()) measure_sums(into, where);
  for (const place& where : places()) measure_four_sources(into, where);
}

}  // namespace weft::tools

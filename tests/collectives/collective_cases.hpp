// Every collective, called in every form, against the serial result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <weft/communicator.hpp>
#include <weft/runtime.hpp>
#include <weft/schedules/collective.hpp>

namespace weft_test {

enum class element : std::uint8_t { float32, float64, int32, int64 };
inline constexpr int elements = 4;

/// One call, the same on every rank but for where its buffers lie.
struct collective_case {
  weft::schedules::collective what = weft::schedules::collective::barrier;
  /// Of the vector; where there are blocks, of all of them if they are even, else something to draw their counts from.
  std::size_t count = 0;
  element type = element::float64;
  weft::reduction_operator op = weft::sum;
  int root = 0;
  bool in_place = false;
  bool uneven = false;   ///< with counts, some of them 0
  bool started = false;  ///< by the form that starts it
  bool planned = false;  ///< by a plan, started several times
  std::uint64_t seed = 0;
  // Of this rank: where its buffers lie, in node memory of these runtimes or, null, elsewhere.
  weft::runtime* in_node = nullptr;
  weft::runtime* out_node = nullptr;
};

/// Draws all but which collective it is, its form, and of how many elements.
void draw_terms(collective_case& c, int ranks, std::mt19937_64& random);

/// Makes the call on this rank, and throws expectation_failed where the output, the input or what lies beside them is
/// not as it should be.
void check_case(weft::communicator& world, const collective_case& c);

}  // namespace weft_test

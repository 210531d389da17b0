// SPDX-License-Identifier: Apache-2.0
// Every collective, called in every form, against the serial result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <weft/communicator.hpp>
#include <weft/runtime.hpp>
#include <weft/schedules/collective.hpp>

namespace weft_test {

enum class element : std::uint8_t { float32, float64, int32, int64, uint8 };
inline constexpr int elements = 5;
std::size_t size_of(element type);

/// A case's operator: built in; the caller's, which commutes; such that does not, on elements of its own; or that
/// throws.
enum class combined_by : std::uint8_t { builtin, user, ordered, throwing };

/// One call, the same on every rank but for where its buffers lie.
struct collective_case {
  weft::schedules::collective what = weft::schedules::collective::barrier;
  /// Of the vector; where there are blocks, of all of them if they are even, else the most that one has.
  std::size_t count = 0;
  element type = element::float64;
  weft::reduction_operator op = weft::sum;
  combined_by by = combined_by::builtin;
  int thrower = 0;  ///< whose operator throws
  int at = 1;       ///< in which of its calls
  int root = 0;
  bool in_place = false;
  bool uneven = false;   ///< with counts
  bool zeros = true;     ///< some of these 0
  bool spare = false;    ///< buffers that a rank need not give are given all the same
  bool started = false;  ///< by the form that starts it
  bool planned = false;  ///< by a plan, started several times
  std::uint64_t seed = 0;
  int row = -1;  ///< of the table of calls, if it is of that
  // Of this rank: where its buffers lie, in node memory of these runtimes or, null, elsewhere.
  weft::runtime* in_node = nullptr;
  weft::runtime* out_node = nullptr;
};

/// Draws all but which collective it is, its form, and of how many elements.
void draw_terms(collective_case& c, int ranks, std::mt19937_64& random);

/// How a call ended on one rank: well, by what the rank's own operator threw, or by the error that tells of another's.
enum class found : std::uint8_t { result, own_exception, told };

/// A call of this rank with its buffers, between guards. Functions throw expectation_failed where the output, the input
/// or what lies beside them is not as it should be, or an error is not the one that the case asks for.
class prepared_case {
 public:
  virtual ~prepared_case() = default;
  /// Fills the buffers, with other numbers each time, and makes the call or starts it.
  virtual void start() = 0;
  /// Polls what was started.
  virtual bool done() = 0;
  /// Waits for what was started, and checks it.
  virtual found finish() = 0;
  /// Makes the call once more and waits for it, on what its buffers hold by then. Nothing is filled or checked.
  virtual void repeat() = 0;
};
/// Plans are made here: by all ranks. `c` is copied.
std::unique_ptr<prepared_case> prepare(weft::communicator& world, const collective_case& c);

/// How often a case is started.
inline int starts_of(const collective_case& c) { return c.planned ? 3 : 1; }

/// After calls that throw, by all ranks: that nobody was told of what did not happen, and the communicator goes on.
void check_told(weft::communicator& world, found mine);

/// Makes the call on this rank and checks it, as often as it is started; how it ended the last time.
found check_case(weft::communicator& world, const collective_case& c);

/// Every collective that combines `count` elements, by an operator that does not commute: with a result apart from its
/// input, and in place.
void check_order(weft::communicator& world, std::size_t count);

}  // namespace weft_test

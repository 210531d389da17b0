// SPDX-License-Identifier: Apache-2.0
// What several of the jobs do.
#pragma once

#include <cstddef>
#include <weft/weft.hpp>

namespace weft_test {

/// Messages of `bytes` that come long before rank 1 wants them, `count` of them at a time, between barriers and sums.
/// Every rank of two or more calls it.
void exchange_messages(weft::communicator& world, std::size_t bytes, int count);

/// Every collective on vectors of `count` elements, compared element by element; one by an operator that throws.
void check_collectives(weft::communicator& on, std::size_t count);

/// Plans of every collective on vectors of `count` elements, each started so many times, several in flight.
void check_plans(weft::communicator& on, std::size_t count, int starts);

/// Puts, gets, notes, counts and locks among all ranks, compared element by element.
void use_windows(weft::communicator& world);

}  // namespace weft_test

// SPDX-License-Identifier: Apache-2.0
// The table of calls: every collective, form, place, operator, root, length, type and counts that go together.
//
// A run of a test draws some of its rows by the seed. WEFT_TEST_ROWS=all has it take all, another number as many, and
// WEFT_TEST_ROW=NUMBER that one alone: with the WEFT_TEST_SEED of the run, the very call that failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collective_cases.hpp"

namespace weft_test {

/// How many rows it has.
std::size_t rows_of_the_table();

/// The call of a row among so many ranks; what the row leaves open is drawn by the seed.
collective_case case_of_row(std::size_t row, int ranks, std::uint64_t seed);

/// `count` rows, or those that the environment asks for. Of each collective there are as many.
std::vector<std::size_t> drawn_rows(std::size_t count, std::uint64_t seed);

/// One row of each collective, form and length, drawn by the seed of those whose operators do not throw.
std::vector<std::size_t> rows_of_every_form(std::uint64_t seed);

/// The case of a row on this rank, whose buffers lie anywhere.
collective_case case_here(weft::runtime& runtime, weft::communicator& world, std::size_t row, std::uint64_t seed);

/// Calls these rows one after another.
void check_rows(weft::runtime& runtime, weft::communicator& world, const std::vector<std::size_t>& rows,
                std::uint64_t seed);

/// Calls them up to five at a time: plans are started, and all are ended, in an order of each rank's own.
void overlap_rows(weft::runtime& runtime, weft::communicator& world, const std::vector<std::size_t>& rows,
                  std::uint64_t seed);

}  // namespace weft_test

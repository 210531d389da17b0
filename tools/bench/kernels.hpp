// SPDX-License-Identifier: Apache-2.0
// `weft bench kernels`: how fast arrays are combined, beside loops written by hand and what memory gives.
#pragma once

#include <cstddef>
#include <vector>

namespace weft::tools {

/// The bytes that all arrays of a kernel take together, and the memory that holds them.
struct working_set {
  const char* where;
  std::size_t bytes;
};

/// Beside caches of so many bytes: half of the first and of the second level, "L1" and "L2"; 24 and 30 MiB, where two
/// sources and a target have 8 and 10 MiB each, as much as many a third level; 2 GiB, "memory".
std::vector<working_set> working_sets_beside(std::size_t first_cache, std::size_t second_cache);

/// Those beside the caches of this machine.
std::vector<working_set> working_sets();

/// What each of so many arrays takes of a working set: a multiple of 64, and nearly all of it together.
std::size_t bytes_each(std::size_t working_set, std::size_t arrays);

/// Measures in this process and prints a table, or one JSON object a line: "what", "where", "bytes" (of the working
/// set), "gb_per_s", and of the ratios "of_loop", "of_copy" and "of_float" those that were measured. Throws
/// std::bad_alloc where there is not as much memory.
void bench_kernels(const std::vector<working_set>& sizes, bool json);

}  // namespace weft::tools

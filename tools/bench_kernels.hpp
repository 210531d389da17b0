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

/// Half of the first-level and of the second-level cache of this machine, "L1" and "L2", and 2 GiB, "memory".
std::vector<working_set> working_sets();

/// Measures in this process and prints a table, or one JSON object a line: "what", "where", "bytes" (of the working
/// set), "gb_per_s", and of the ratios "of_loop", "of_copy" and "of_float" those that were measured. Throws
/// std::bad_alloc where there is not as much memory.
void bench_kernels(const std::vector<working_set>& sizes, bool json);

}  // namespace weft::tools

// `weft bench kernels`: how fast arrays are combined, beside loops written by hand and what memory gives.
#pragma once

namespace weft::tools {

/// Measures in this process and prints a table, or one JSON object a line. Throws std::bad_alloc where there are not
/// 2 GiB.
void bench_kernels(bool json);

}  // namespace weft::tools

// What shows that bytes which a launcher kept have come back whole: their length, behind them.
#pragma once

#include <cstddef>
#include <vector>

namespace weft {

void append_length(std::vector<std::byte>& to);

/// Takes the length off again; false when it is not that of what stands before it.
bool take_length(std::vector<std::byte>& from);

}  // namespace weft

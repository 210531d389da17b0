// A timeline as a picture.
#pragma once

#include <string>
#include <weft/simulator/timeline.hpp>

namespace weft::simulator {

/// An SVG document as Figure 1 of Canon and Antoniu 2012 draws schedules, a row for each rank, time going to the
/// right: what a CPU does above, what the rank receives below, and an arrow for each message from its sender's row to
/// its receiver's. Throws std::invalid_argument for more than `most_drawn` activities, of which nobody could see one.
std::string to_svg(const simulation& done, const timeline& seen);
inline constexpr std::size_t most_drawn = 100'000;

}  // namespace weft::simulator

// SPDX-License-Identifier: Apache-2.0
// Options that take several numbers: 4,7,16 or 2..1024.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace weft::tools {

/// How a range goes on that does not say it itself.
enum class stride : unsigned char { next, doubled };

/// Numbers and ranges with commas between, in their order, each number once. A range is FIRST..LAST, FIRST..LAST:+STEP
/// or FIRST..LAST:xFACTOR: FIRST, and what follows as far as LAST. `each` checks a number, and may write it anew, in
/// digits. Throws std::invalid_argument, saying what is right.
std::vector<std::size_t> parse_series(const std::string& text, const CLI::Validator& each, stride by);

/// Adds an option of such numbers, which are then in `values`.
CLI::Option* add_series(CLI::App& app, const std::string& name, std::vector<std::size_t>& values,
                        const std::string& meaning, const CLI::Validator& each, stride by);

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
// What was probably meant by a word of the command line that nobody knows.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tools {

/// How many letters have to be put in, left out, changed, or swapped with the next one, to make one text of the other.
std::size_t edit_distance(std::string_view one, std::string_view other);

/// The one of `names` that is nearest to `word`; empty where none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

/// "; did you mean \"NAME\"?" of the nearest one; empty where none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

/// The line that says which command was probably meant, where `arguments` of `weft` begin with one that there is not,
/// or which option, of the first that the command has not. Empty where all are known, or none is near.
std::string suggestion(const CLI::App& weft, const std::vector<std::string>& arguments);

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
// What the subcommands ask of their command lines. What is wrong is said in the words of who typed it.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include <weft/runtime/options.hpp>

namespace weft::tools {

/// Whether the whole text is a number, which is then in `number`.
template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size();
}

/// The names of the option that says how many ranks there are.
inline constexpr const char* ranks_option = "-n,--ranks,--np";

/// The arguments of `app`, as CLI11 understands them: it knows no -np and -ppn, long names behind one dash, and does
/// not expect a "--" between the options of a command that takes the rest and its PROGRAM. What is behind PROGRAM
/// stays.
std::vector<std::string> understood(const CLI::App& app, std::vector<std::string> arguments);

/// The same of the arguments of `weft`, which begin with the name of a command.
std::vector<std::string> understood_by_command(const CLI::App& weft, std::vector<std::string> arguments);

/// The command of that name; null where there is none.
const CLI::App* find_command(const CLI::App& weft, const std::string& name);

/// Accepts the whole numbers from `least` to `most`.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// More bytes than this are taken for a mistake.
inline constexpr std::size_t most_bytes = std::size_t{1} << 50;

/// A number of bytes, from `least` to most_bytes, such as 8, 64k, 64K, 4KiB or 1M, by powers of 1024. Throws
/// std::invalid_argument, saying what is right.
std::size_t parse_size(std::string_view text, std::size_t least = 1);

/// Accepts such a number, and makes it one of bytes.
CLI::Validator size_in_bytes(std::size_t least = 1);

/// Accept a rank, a whole number from 0, and a time, in any unit. They return nothing, or what is wrong.
std::string check_rank(const std::string& text);
std::string check_time(const std::string& text);

/// The option takes one of these words, which is also how the help shows it.
void choose(CLI::Option* option, const std::vector<std::string>& words);

/// Throws CLI::ValidationError, naming the option, unless it is one of so many ranks.
void check_among(const char* option, int rank, int ranks);

/// The options that the environment and `arguments` (--weft-NAME=VALUE) give, checked as a program of a job would.
/// Warnings go to standard error. Throws weft::error as parse_options does, and CLI::ExtrasError for an argument that
/// is none of weft's.
options parse_weft_arguments(std::vector<std::string> arguments);

}  // namespace weft::tools

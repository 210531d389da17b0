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

/// Accepts the whole numbers from `least` to `most`.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

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

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <weft/algorithms/named_algorithm.hpp>
#include <weft/command_line/suggestion.hpp>

namespace weft::tools {
namespace {

using schedules::algorithm;
using schedules::algorithms;
using schedules::collective;

/// A name without what people spell differently.
std::string plain(std::string_view name) {
  if (name == "bcast") return "broadcast";
  std::string letters;
  std::copy_if(name.begin(), name.end(), std::back_inserter(letters), [](char c) { return c != '-' && c != '_'; });
  return letters;
}

}  // namespace

std::size_t name_meant(const std::string& wanted, const std::vector<std::string>& names, const std::string& what) {
  std::vector<std::string> spelled;
  for (const std::string& name : names) spelled.push_back(plain(name));
  const auto index_of = [&](const std::string& word) {
    return static_cast<std::size_t>(std::find(spelled.begin(), spelled.end(), word) - spelled.begin());
  };
  if (const std::size_t i = index_of(plain(wanted)); i < names.size()) return i;
  const std::size_t near = index_of(nearest(plain(wanted), spelled));
  throw std::invalid_argument("no " + what + " is called \"" + wanted + "\"" +
                              (near < names.size() ? "; did you mean \"" + names[near] + "\"? There" : ": there") +
                              " are {" + CLI::detail::join(names, ",") + "}");
}

CLI::Validator name_among(const std::vector<std::string>& names, const std::string& what) {
  return CLI::Validator(
      [names, what](std::string& text) {
        try {
          text = names[name_meant(text, names, what)];
        } catch (const std::invalid_argument& failure) {
          return std::string(failure.what());
        }
        return std::string();
      },
      "");
}

std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  for (const algorithm& a : algorithms())
    if (names.empty() || names.back() != name(a.kind)) names.emplace_back(name(a.kind));
  return names;
}

collective collective_named(const std::string& wanted) {
  const auto names = collective_names();
  const std::string& exact = names[name_meant(wanted, names, "collective")];
  return std::find_if(algorithms().begin(), algorithms().end(),
                      [&](const algorithm& a) { return name(a.kind) == exact; })
      ->kind;
}

const algorithm& algorithm_named(collective of, const std::string& wanted) {
  const auto there_are = schedules::algorithms_of(of);
  if (wanted.empty()) return of == collective::reduce ? *find_algorithm(of, "greedy") : there_are.front();
  std::vector<std::string> names;
  for (const algorithm& a : there_are) names.emplace_back(a.name);
  return there_are[name_meant(wanted, names, "algorithm of " + std::string(name(of)))];
}

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
#include "list.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <weft/algorithms/shape_options.hpp>

namespace weft::tools {
namespace {

using schedules::algorithm;
using schedules::algorithms;
using schedules::collective;

std::string padded(std::string_view text, std::size_t width) {
  std::string wide(text);
  wide.resize(std::max(width, text.size() + 1), ' ');
  return wide;
}

std::string line_of(const algorithm& a) {
  const std::string options = CLI::detail::join(options_of(a), " ");
  return padded(name(a.kind), 15) + padded(a.name, 23) + std::string(a.source) + (options.empty() ? "" : "; ") +
         options + "\n";
}

}  // namespace

std::string_view text_of(schedules::rank_order order) {
  switch (order) {
    case schedules::rank_order::kept:
      return "kept";
    case schedules::rank_order::on_request:
      return "kept for root 0, and with --keep-order";
    case schedules::rank_order::kept_for_root:
      return "kept for root 0";
    case schedules::rank_order::kept_in_rows:
      return "kept where groups are rows of consecutive ranks";
    case schedules::rank_order::not_kept:
      return "not kept";
  }
  return "";
}

std::string list_as_text(std::optional<collective> of) {
  std::string text;
  for (const algorithm& a : algorithms()) {
    if (of && a.kind != *of) continue;
    const std::string indent(15, ' ');
    text += line_of(a) + indent + "cost: " + std::string(a.formula) + "\n" + indent +
            "rank order: " + std::string(text_of(a.order)) + "\n";
  }
  return text;
}

std::string list_as_json(std::optional<collective> of) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const algorithm& a : algorithms())
    if (!of || a.kind == *of)
      all.push_back({{"collective", name(a.kind)},
                     {"name", a.name},
                     {"parameters", options_of(a)},
                     {"by", a.pattern == schedules::memory_pattern::none ? "messages" : "memory"},
                     {"source", a.source},
                     {"formula", a.formula},
                     {"rank_order", text_of(a.order)}});
  return all.dump(1) + "\n";
}

std::string short_list() {
  std::string text;
  for (const algorithm& a : algorithms()) text += "  " + line_of(a);
  return text;
}

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
#include "finding.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weft::tools {
namespace {

const char* name(severity how) { return how == severity::ok ? "ok" : how == severity::warning ? "warning" : "error"; }

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

}  // namespace

severity worst_of(const std::vector<finding>& all) {
  severity worst = severity::ok;
  for (const finding& each : all) worst = std::max(worst, each.how);
  return worst;
}

int exit_status(severity worst) { return worst == severity::ok ? 0 : worst == severity::warning ? 3 : 4; }

std::string to_text(const std::vector<finding>& all) {
  std::string text;
  for (const finding& each : all)
    text += padded(name(each.how), 8) + ' ' + padded(each.what, 16) + ' ' + each.found +
            (each.remedy.empty() ? "" : "; " + each.remedy) + '\n';
  return text;
}

std::string to_json(const std::vector<finding>& all) {
  using json = nlohmann::ordered_json;
  json findings = json::array();
  for (const finding& each : all)
    findings.push_back(
        {{"what", each.what}, {"severity", name(each.how)}, {"found", each.found}, {"remedy", each.remedy}});
  const json object{{"worst", name(worst_of(all))}, {"findings", findings}};
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
#include "pages.hpp"

#include <algorithm>
#include <weft/runtime/options.hpp>

namespace weft::tools {
namespace {

/// As text that troff prints as it is.
std::string plain(const std::string& text) {
  std::string made;
  for (const char letter : text) {
    if (letter == '\\')
      made += "\\e";
    else if (letter == '-')
      made += "\\-";
    else if (letter == '`' || letter == '\'')
      made += letter == '`' ? "\\(ga" : "\\(aq";
    else if (letter == '~' || letter == '^')
      made += letter == '~' ? "\\(ti" : "\\(ha";
    else
      made += letter;
  }
  return made.starts_with('.') ? "\\&" + made : made;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
/// May be broken where there are alternatives.
std::string italic(const std::string& text) {
  return "\\fI" + CLI::detail::find_and_replace(plain(text), "|", "|\\:") + "\\fR";
}

std::string page_name(const shown_command& of) { return of.name.empty() ? "weft" : "weft-" + of.name; }
std::string called(const shown_command& of) { return of.name.empty() ? "weft" : "weft " + of.name; }

/// Words in lines that are short enough for mail and for troff's checkers.
std::string filled(const std::string& text) {
  constexpr std::size_t longest = 78;
  std::string made, line;
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > longest) {
      made += line + "\n";
      line.clear();
    }
    if (word.empty()) continue;
    if (!line.empty()) line += ' ';
    line += line.empty() ? plain(word) : plain(" " + word).substr(1);
  }
  return made + line + "\n";
}

std::string heading(const std::string& name) { return ".SH " + name + "\n"; }

/// A term and what is said of it.
std::string entry(const std::string& term, const std::string& meaning) {
  return ".TP\n" + term + "\n" + filled(meaning);
}

/// Lines as they are where they are indented, the others filled.
std::string paragraphs(const std::vector<std::string>& lines) {
  std::string made, text;
  bool as_it_is = false;
  const auto begin = [&] { made += made.empty() ? "" : ".PP\n"; };  // none behind a heading
  const auto end_text = [&] {
    if (text.empty()) return;
    begin();
    made += filled(text);
    text.clear();
  };
  for (const std::string& line : lines) {
    const bool indented = line.starts_with("  ");
    if (indented && !as_it_is) {
      end_text();
      begin();
      made += ".nf\n";
    }
    if (!indented && as_it_is) made += ".fi\n";
    as_it_is = indented;
    if (indented)
      made += plain(CLI::detail::trim_copy(line)) + "\n";
    else
      text += (text.empty() ? "" : " ") + line;
  }
  if (as_it_is) made += ".fi\n";
  end_text();
  return made;
}

std::string synopsis(const shown_command& of) {
  if (!of.usages.empty()) {
    std::string made;
    for (const std::string& usage : of.usages) made += (made.empty() ? ".nf\n" : "") + plain(usage) + "\n";
    return made + ".fi\n";
  }
  std::string made = bold(called(of));
  if (of.name.empty()) made += " " + italic("COMMAND");
  made += " [" + italic("OPTIONS") + "]";
  for (const shown_argument& each : of.arguments) {
    const std::string name = italic(each.value.name) + (each.several ? "..." : "");
    made += each.required ? " " + name : " [" + name + "]";
  }
  return made + "\n";
}

std::string option_entry(const shown_option& of) {
  std::string term;
  for (const std::string& name : of.names) term += (term.empty() ? "" : ", ") + bold(name);
  if (!of.value.name.empty()) term += " " + italic(of.value.name);
  const std::string variable = of.environment.empty() ? "" : "; or by the variable " + of.environment;
  return entry(term, of.meaning + variable);
}

std::string commands_of_weft(const std::vector<shown_command>& all) {
  std::string made = heading("COMMANDS");
  for (const shown_command& each : all)
    if (!each.name.empty()) made += entry(bold(page_name(each)) + "(1)", each.title);
  return made;
}

std::string options_of_programs() {
  std::string made = heading("OPTIONS OF PROGRAMS");
  made += filled(
      "Each program of weft takes these, and so do the commands that say so. An option is also set by the variable of "
      "its name in capitals, with _ for -, as WEFT_PROGRESS; the command line wins.");
  for (const option_listing& each : list_options({}))
    made += entry(bold("--weft-" + each.name + "=") + italic("VALUE"),
                  each.help + (each.value.empty() ? "" : " [" + each.value + "]"));
  return made;
}

std::string see_also(const shown_command& which, const std::vector<shown_command>& all) {
  std::string made;
  for (const shown_command& each : all)
    if (each.name != which.name) made += (made.empty() ? "" : ",\n") + bold(page_name(each)) + "(1)";
  return heading("SEE ALSO") + made + "\n";
}

}  // namespace

std::string man_page(const shown_command& which, const std::vector<shown_command>& all, const std::string& date) {
  std::string name = page_name(which), title = name;
  std::ranges::transform(title, title.begin(), [](unsigned char letter) { return std::toupper(letter); });
  std::string page =
      ".\\\" Made by weft manual.\n.TH " + title + " 1 " + date + " \"weft " WEFT_VERSION "\"\n.ad l\n.nh\n";
  page += heading("NAME") + plain(name) + " \\- " + plain(which.title) + "\n";
  page += heading("SYNOPSIS") + synopsis(which);
  if (!which.text.empty()) page += heading("DESCRIPTION") + paragraphs(which.text);
  if (which.name.empty()) page += commands_of_weft(all);
  if (!which.arguments.empty()) page += heading("ARGUMENTS");
  for (const shown_argument& each : which.arguments) page += entry(italic(each.value.name), each.meaning);
  page += heading("OPTIONS");
  for (const shown_option& each : which.options) page += option_entry(each);
  if (which.name.empty()) page += options_of_programs();
  return page + see_also(which, all);
}

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
#include "completions.hpp"

#include <weft/runtime/options.hpp>

namespace weft::tools {
namespace {

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  std::string made = text;
  for (std::size_t at = 0; (at = made.find(what, at)) != std::string::npos; at += by.size())
    made.replace(at, what.size(), by);
  return made;
}

/// As one word of a shell; fish has other rules within quotes.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }
std::string quoted_for_fish(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

/// What has room beside a list.
std::string in_short(const std::string& meaning) { return meaning.substr(0, meaning.find(';')); }

std::string joined(const std::vector<std::string>& words) { return CLI::detail::join(words, " "); }

std::vector<std::string> option_names(const shown_command& of) {
  std::vector<std::string> names;
  for (const shown_option& option : of.options) names.insert(names.end(), option.names.begin(), option.names.end());
  if (of.takes_any_option)
    for (const option_listing& each : list_options({})) names.push_back("--weft-" + each.name + "=");
  return names;
}

std::vector<std::string> command_names(const std::vector<shown_command>& all) {
  std::vector<std::string> names;
  for (const shown_command& each : all)
    if (!each.name.empty()) names.push_back(each.name);
  return names;
}

/// What a bash `case` in which `before` is an option that takes a value does.
std::string bash_case_of_values(const shown_command& of) {
  std::string made;
  for (const shown_option& option : of.options) {
    if (option.value.name.empty()) continue;
    made +=
        "        " + CLI::detail::join(option.names, "|") + ") values=" + quoted(joined(option.value.words)) + " ;;\n";
  }
  return made;
}

}  // namespace

std::string bash_completion(const std::vector<shown_command>& all) {
  std::string made = R"(# bash completion of weft, made by weft manual

# What `before` takes for a value, in `values`: words, or nothing where that is free; fails where it takes none.
_weft_value() {
  local command=$1 before=$2
  case $command in
)";
  for (const shown_command& each : all)
    made += "    " + (each.name.empty() ? "''" : each.name) + ")\n      case $before in\n" + bash_case_of_values(each) +
            "        *) return 1 ;;\n      esac\n      ;;\n";
  made += R"(    *) return 1 ;;
  esac
}

_weft() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' values words='' place
  if ((COMP_CWORD > 1)); then command=${COMP_WORDS[1]}; fi
  # bash takes --option=value apart.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()

  case $command in
)";
  for (const shown_command& each : all) {
    const std::string name = each.name.empty() ? "''" : each.name;
    std::vector<std::string> words = option_names(each);
    made += "    " + name + ")\n      local options=" + quoted(joined(words)) + "\n";
    if (each.name.empty()) made += "      words=" + quoted(joined(command_names(all))) + "\n";
    if (!each.arguments.empty()) made += "      words=" + quoted(joined(each.arguments.front().value.words)) + "\n";
    if (each.runs_program)
      made += R"(      # From the program on the line is that program's own.
      for ((place = 2; place < COMP_CWORD; ++place)); do
        case ${COMP_WORDS[place]} in
          '=') ((++place)) ;;
          -*) if _weft_value "$command" "${COMP_WORDS[place]}" && [[ ${COMP_WORDS[place + 1]} != '=' ]]; then ((++place)); fi ;;
          *)
            if declare -F _command_offset >/dev/null; then _command_offset "$place"; fi
            return
            ;;
        esac
      done
      if ((place == COMP_CWORD)) && [[ $current != -* ]] && ! _weft_value "$command" "$before"; then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
        return
      fi
)";
    made += "      ;;\n";
  }
  made += R"(    *) return ;;
  esac

  if _weft_value "$command" "$before"; then
    words=$values
  elif [[ $current == -* ]]; then
    words=$options
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}

complete -o bashdefault -o default -F _weft weft
)";
  return made;
}

namespace {

/// In the message of a specification of _arguments.
std::string zsh_message(const std::string& text) {
  return replaced(replaced(replaced(in_short(text), "[", "\\["), "]", "\\]"), ":", "\\:");
}

/// ":MESSAGE:ACTION" of a value.
std::string zsh_value(const shown_value& value) {
  const std::string action = !value.words.empty() ? "(" + joined(value.words) + ")" : value.is_file ? "_files" : "";
  const std::string name = value.words.empty() ? value.name : "value";
  return ":" + zsh_message(name) + ":" + action;
}

std::string zsh_arguments(const shown_command& of) {
  std::string made;
  for (const shown_option& option : of.options) {
    std::vector<std::string> forms;
    for (const std::string& name : option.names)
      forms.push_back(option.value.name.empty() ? name : name + (name.starts_with("--") ? "=" : "+"));
    const std::string value = option.value.name.empty() ? "" : zsh_value(option.value);
    for (const std::string& form : forms)
      made += " \\\n        " +
              quoted("(" + joined(option.names) + ")" + form + "[" + zsh_message(option.meaning) + "]" + value);
  }
  if (of.takes_any_option)
    for (const option_listing& each : list_options({}))
      made += " \\\n        " + quoted("--weft-" + each.name + "=[" + zsh_message(each.help) + "]:value:");
  if (of.runs_program) return made + " \\\n        " + quoted("*::program:_normal");
  for (const shown_argument& each : of.arguments)
    made += " \\\n        " + quoted((each.several ? "*" : "") + zsh_value(each.value));
  return made;
}

}  // namespace

std::string zsh_completion(const std::vector<shown_command>& all) {
  std::string made = "#compdef weft\n# zsh completion of weft, made by weft manual\n\n_weft() {\n";
  made += "  local -a commands=(\n";
  for (const shown_command& each : all)
    if (!each.name.empty()) made += "    " + quoted(each.name + ":" + in_short(each.title)) + "\n";
  made += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    _arguments" +
          zsh_arguments(all.front()) + "\n    return\n  fi\n  shift words\n  ((CURRENT--))\n  case $words[1] in\n";
  for (const shown_command& each : all)
    if (!each.name.empty()) made += "    " + each.name + ")\n      _arguments" + zsh_arguments(each) + "\n      ;;\n";
  return made + "  esac\n}\n\nif [[ $funcstack[1] == _weft ]]; then _weft \"$@\"; else compdef _weft weft; fi\n";
}

std::string fish_completion(const std::vector<shown_command>& all) {
  std::string made = "# fish completion of weft, made by weft manual\n\n";
  for (const shown_command& each : all) {
    const std::string when =
        each.name.empty() ? "__fish_use_subcommand" : "'__fish_seen_subcommand_from " + each.name + "'";
    const std::string start = "complete -c weft -n " + when;
    if (!each.name.empty())
      made += "complete -c weft -f -n __fish_use_subcommand -a " + each.name + " -d " +
              quoted_for_fish(in_short(each.title)) + "\n";
    for (const shown_option& option : each.options) {
      made += start;
      for (const std::string& name : option.names)
        made += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.name.empty())
        made += option.value.words.empty() ? " -r" : " -x -a " + quoted_for_fish(joined(option.value.words));
      made += " -d " + quoted_for_fish(in_short(option.meaning)) + "\n";
    }
    if (!each.arguments.empty() && !each.arguments.front().value.words.empty())
      made += start + " -f -a " + quoted_for_fish(joined(each.arguments.front().value.words)) + "\n";
  }
  return made;
}

}  // namespace weft::tools

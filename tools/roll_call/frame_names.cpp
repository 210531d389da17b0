// SPDX-License-Identifier: Apache-2.0
#include "frame_names.hpp"

#include <cctype>

namespace weft::tools {
namespace {

bool names_space(std::string_view text, std::string_view space) {
  for (std::size_t at = text.find(space); at != std::string_view::npos; at = text.find(space, at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_' && before != ':') return true;
  }
  return false;
}

}  // namespace

std::string plain_name(std::string_view function) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  function = function.substr(0, function.find(" [clone "));  // made of it by the compiler
  std::string text;
  int depth = 0;  // of < and (
  for (std::size_t i = 0; i < function.size(); ++i) {
    if (depth == 0 && function.substr(i).starts_with(unnamed)) {
      i += unnamed.size() - 1;
      continue;
    }
    const char c = function[i];
    const bool is_operator = text.ends_with("operator") || text.ends_with("operator<") || text.ends_with("operator-");
    if ((c == '<' || c == '(') && !is_operator) ++depth;
    if (depth == 0) text += c;
    if ((c == '>' || c == ')') && depth > 0) --depth;
  }
  while (text.ends_with(" const") || text.ends_with(' ')) text.erase(text.rfind(' '));
  const std::size_t space = text.find(" operator") == std::string::npos ? text.rfind(' ') : std::string::npos;
  return space == std::string::npos ? text : text.substr(space + 1);
}

frame_owner owner_of(const roll_frame& of) {
  const std::string name = plain_name(of.function);
  if (names_space(name, "weft::") || of.file.find("/include/weft/") != std::string::npos ||
      of.module.find("/libweft.so") != std::string::npos)
    return frame_owner::weft;
  if (of.function == "?" || of.file.starts_with("/usr/include/")) return frame_owner::system;
  for (const std::string_view space : {"std::", "__gnu_cxx::", "boost::", "__cxxabiv1::"})
    if (names_space(name, space)) return frame_owner::system;
  for (const std::string_view each : {"jump_fcontext", "make_fcontext", "_start", "__libc_start_main"})
    if (name == each) return frame_owner::system;
  for (const std::string_view each : {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "[vdso"})
    if (of.module.starts_with(each)) return frame_owner::system;
  return frame_owner::program;
}

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
#include <weft/algorithms/vector_size.hpp>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/series.hpp>

namespace weft::tools {

std::vector<std::size_t> vector_size::in_bytes() const {
  if (counts.empty()) return bytes;
  std::vector<std::size_t> sizes;
  for (const std::size_t count : counts) sizes.push_back(count * kernels::size_of(type));
  return sizes;
}

void add_vector_size(CLI::App& app, vector_size& line, bool several, const std::string& by_default) {
  std::vector<std::string> types;
  for (const kernels::type each : kernels::all_types()) types.emplace_back(kernels::name(each));
  const auto add = [&](const char* name, std::vector<std::size_t>& values, const std::string& meaning,
                       const CLI::Validator& each, const std::string& unit) {
    if (several) return add_series(app, name, values, meaning, each, stride::doubled)->type_name(unit + ",...");
    return app.add_option(name, values, meaning)->transform(each)->expected(1)->type_name(unit);
  };
  CLI::Option* const count =
      add("--count", line.counts,
          "Elements of the vector, all ranks' chunks together; of an all-to-all, of one rank's input",
          whole_number(0, most_bytes / 64), "ELEMENTS");
  CLI::Option* const bytes =
      add("--bytes", line.bytes, "The same in bytes, such as 64K or 1M " + by_default, size_in_bytes(0), "BYTES")
          ->excludes(count);
  CLI::Option* const type = app.add_option_function<std::string>(
      "--type", [&line](const std::string& name) { line.type = kernels::find_type(name).value(); },
      "Type of the elements [float]");
  choose(type, types);
  line.options = {count, bytes, type};
}

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>
#include <weft/command_line/command_line.hpp>
#include <weft/command_line/series.hpp>

namespace weft::tools {
namespace {

/// More numbers than this are taken for a mistake.
constexpr std::size_t most_numbers = 100'000;

class series {
 public:
  void add(std::size_t number) {
    if (!seen_.insert(number).second) return;
    if (seen_.size() > most_numbers)
      throw std::invalid_argument("more than " + std::to_string(most_numbers) + " numbers");
    in_order_.push_back(number);
  }
  std::vector<std::size_t> take() { return std::move(in_order_); }

 private:
  std::set<std::size_t> seen_;
  std::vector<std::size_t> in_order_;
};

std::size_t number_in(std::string text, const CLI::Validator& each) {
  std::size_t number = 0;
  const std::string wrong = each(text);
  if (!wrong.empty() || !parse(text, number)) throw std::invalid_argument(wrong);
  return number;
}

struct steps {
  bool multiply;
  std::size_t by;
};

/// Of "+STEP" or "xFACTOR".
steps steps_in(const std::string& text, const CLI::Validator& each, const std::string& range) {
  const bool multiply = text.starts_with('x');
  std::size_t by = 0;
  if (multiply && !parse(std::string_view(text).substr(1), by))
    by = 0;
  else if (text.starts_with('+'))
    by = number_in(text.substr(1), each);
  if (by < (multiply ? 2 : 1))
    throw std::invalid_argument("\"" + range + "\": behind the colon comes what is added, from +1 on, or a factor, " +
                                "from x2 on");
  return {multiply, by};
}

void add_range(series& to, const std::string& range, std::size_t dots, const CLI::Validator& each, stride by) {
  const std::size_t colon = range.find(':', dots);
  const std::size_t first = number_in(range.substr(0, dots), each);
  const std::size_t last = number_in(range.substr(dots + 2, std::min(colon, range.size()) - dots - 2), each);
  steps go = by == stride::doubled ? steps{true, 2} : steps{false, 1};
  if (colon != std::string::npos) go = steps_in(range.substr(colon + 1), each, range);
  if (first > last) throw std::invalid_argument("\"" + range + "\" runs backwards: the least number comes first");
  if (go.multiply && first == 0)
    throw std::invalid_argument("\"" + range + "\": multiplied, 0 stays 0: begin at 1, or add, such as 0..64:+8");
  std::size_t number = first;
  to.add(number);
  while (go.multiply ? number <= last / go.by : last - number >= go.by) {
    number = go.multiply ? number * go.by : number + go.by;
    to.add(number);
  }
}

}  // namespace

std::vector<std::size_t> parse_series(const std::string& text, const CLI::Validator& each, stride by) {
  series all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (const std::size_t dots = part.find(".."); dots != std::string::npos)
      add_range(all, part, dots, each, by);
    else
      all.add(number_in(part, each));
    begin = end + 1;
  }
  return all.take();
}

CLI::Option* add_series(CLI::App& app, const std::string& name, std::vector<std::size_t>& values,
                        const std::string& meaning, const CLI::Validator& each, stride by) {
  return app.add_option_function<std::vector<std::string>>(
      name,
      [&app, &values, each, by, any_name = name.substr(0, name.find(','))](const std::vector<std::string>& words) {
        try {
          values = parse_series(CLI::detail::join(words, ","), each, by);
        } catch (const std::invalid_argument& failure) {
          throw CLI::ValidationError(app.get_option(any_name)->get_name(), failure.what());
        }
      },
      meaning);
}

}  // namespace weft::tools

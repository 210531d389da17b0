// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <weft/schedules/timed_trees.hpp>
#include <weft/simulator/timeline.hpp>

namespace weft::simulator {
namespace {

constexpr double left = 60, top = 24, width = 1000, row = 44, lane = 16;  // pixels

class drawing {
 public:
  drawing(const simulation& done, const timeline& seen) : done_(done), seen_(seen) {}

  std::string text() {
    open();
    axis();
    for (std::size_t rank = 0; rank < done_.ranks.size(); ++rank) {
      const double y = row_of(static_cast<int>(rank));
      add("<line class=\"row\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"/>\n", left, y + 2 * lane, left + width,
          y + 2 * lane);
      add("<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"end\">%zu</text>\n", left - 8, y + lane + 4, rank);
    }
    for (const activity& a : seen_.activities())
      if (a.kind == activity_kind::transfer) transfer(a);
    for (const activity& a : seen_.activities())
      if (a.kind != activity_kind::transfer) work(a);
    return svg_ + "</svg>\n";
  }

 private:
  template <class... Values>
  void add(const char* format, Values... values) {
    std::array<char, 512> line{};
    std::snprintf(line.data(), line.size(), format, values...);
    svg_ += line.data();
  }

  double x(double time) const { return left + (done_.completion > 0 ? time / done_.completion * width : 0); }
  static double row_of(int rank) { return top + row * rank; }

  void open() {
    const double height = top + row * static_cast<double>(done_.ranks.size()) + 30;
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
        "font-size=\"11\">\n",
        left + width + 60, height);
    svg_ +=
        "<defs><marker id=\"head\" markerWidth=\"6\" markerHeight=\"6\" refX=\"5\" refY=\"3\" orient=\"auto\">"
        "<path d=\"M0,0 L6,3 L0,6 z\"/></marker></defs>\n"
        "<style>.row{stroke:#bbb}.compute{fill:#4c78a8}.overhead{fill:#f58518}.transfer{fill:#d8d8d8;stroke:#888}"
        ".message{stroke:#444;stroke-width:0.7}</style>\n";
  }

  /// Round times, ten of them or so.
  void axis() {
    if (done_.completion <= 0) return;
    const double power = std::pow(10, std::floor(std::log10(done_.completion / 10)));
    const double rough = done_.completion / 10 / power;
    const double step = power * (rough <= 1 ? 1 : rough <= 2 ? 2 : rough <= 5 ? 5 : 10);
    for (int i = 0; i * step <= done_.completion; ++i)
      add("<text x=\"%.2f\" y=\"12\" text-anchor=\"middle\">%s</text>\n", x(i * step),
          schedules::time_text(i * step).c_str());
  }

  void transfer(const activity& a) {
    box("transfer", a, a.peer, lane);
    add("<line class=\"message\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" marker-end=\"url(#head)\"/>\n",
        x(a.sent), row_of(a.rank) + lane / 2, x(a.end), row_of(a.peer) + 1.5 * lane);
  }

  void work(const activity& a) { box(a.kind == activity_kind::compute ? "compute" : "overhead", a, a.rank, 0); }

  void box(const char* style, const activity& a, int rank, double below) {
    add("<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.0f\"><title>%s of rank %d, step %u", style,
        x(a.start), row_of(rank) + below, x(a.end) - x(a.start), lane, name(a.kind), a.rank, a.step);
    if (a.kind == activity_kind::transfer)
      add(", %llu bytes to rank %d", static_cast<unsigned long long>(a.amount), a.peer);
    add(": %s to %s</title></rect>\n", schedules::time_text(a.start).c_str(), schedules::time_text(a.end).c_str());
  }

  const simulation& done_;
  const timeline& seen_;
  std::string svg_;
};

}  // namespace

std::string to_svg(const simulation& done, const timeline& seen) {
  if (seen.activities().size() > most_drawn)
    throw std::invalid_argument("a drawing of " + std::to_string(seen.activities().size()) +
                                " activities shows none of them: at most " + std::to_string(most_drawn) +
                                " are drawn; take fewer ranks or segments");
  return drawing(done, seen).text();
}

}  // namespace weft::simulator

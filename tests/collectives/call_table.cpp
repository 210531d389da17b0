// SPDX-License-Identifier: Apache-2.0
#include "call_table.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "case_operands.hpp"
#include "expect.hpp"

namespace weft_test {
namespace {

using weft::schedules::collective;

enum class form : std::uint8_t { blocking, started, planned };
enum class length : std::uint8_t { none, one, few, slots, many };
enum class blocks : std::uint8_t { even, uneven, with_zeros };
enum class rooted : std::uint8_t { first, middle, last };

struct row {
  collective what;
  form how;
  bool in_place;
  combined_by by;
  rooted root;
  length elements;
  element type;
  blocks counts;
};

/// Calls `body` with each of `values`, or with the first where the rows do not differ in it.
template <class Value, class Body>
void each(bool differ, std::initializer_list<Value> values, Body&& body) {
  for (const Value value : values) {
    body(value);
    if (!differ) return;
  }
}

std::vector<row> all_rows() {
  using enum element;
  std::vector<row> rows;
  for (std::size_t i = 0; i < weft::schedules::collectives; ++i) {
    const auto what = static_cast<collective>(i);
    const bool data = what != collective::barrier, combined = weft::schedules::combines(what);
    const bool places = data && what != collective::broadcast, cut = weft::schedules::has_blocks(what);
    each(true, {form::blocking, form::started, form::planned}, [&](form how) {
      each(places, {false, true}, [&](bool in_place) {
        each(combined, {combined_by::builtin, combined_by::user, combined_by::ordered, combined_by::throwing},
             [&](combined_by by) {
               const bool typed = data && (by == combined_by::builtin || by == combined_by::user);
               each(weft::schedules::is_rooted(what), {rooted::first, rooted::middle, rooted::last}, [&](rooted root) {
                 each(data, {length::none, length::one, length::few, length::slots, length::many},
                      [&](length elements) {
                        each(typed, {int64, float64, float32, int32, uint8}, [&](element type) {
                          each(cut, {blocks::even, blocks::uneven, blocks::with_zeros}, [&](blocks counts) {
                            rows.push_back({what, how, in_place, by, root, elements, type, counts});
                          });
                        });
                      });
               });
             });
      });
    });
  }
  return rows;
}

const std::vector<row>& table() {
  static const std::vector<row> rows = all_rows();
  return rows;
}

/// Of the vector, or of a block: as many as fit a line; some slots; so many that they are cut in pieces, or read.
std::size_t drawn_count(const row& of, int ranks, std::mt19937_64& random) {
  const auto from = [&](std::size_t least, std::size_t end) { return least + random() % (end - least); };
  const std::size_t parts = weft::schedules::has_blocks(of.what) ? static_cast<std::size_t>(ranks) : 1;
  switch (of.elements) {
    case length::none:
      return 0;
    case length::one:
      return 1;
    case length::few:
      return from(2, 60);
    case length::slots:
      return from(700, 3500) / parts + 1;
    default:
      return from(12'000, random() % 4 == 0 ? 120'000 : 45'000) / parts + 1;
  }
}

/// Those of `together`, all in flight at a time.
void overlap(weft::runtime& runtime, weft::communicator& world, std::span<const std::size_t> together,
             std::uint64_t seed, std::mt19937_64& own) {
  std::vector<collective_case> calls;
  std::vector<std::unique_ptr<prepared_case>> prepared;
  for (const std::size_t number : together) {
    calls.push_back(case_here(runtime, world, number, seed));
    prepared.push_back(prepare(world, calls.back()));
  }
  for (int again = 0; again < 2; ++again) {
    std::vector<std::size_t> late, flying;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].planned && own() % 2 == 0) {
        late.push_back(i);
        continue;
      }
      if (again > 0 && !calls[i].planned) continue;
      prepared[i]->start();
      flying.push_back(i);
    }
    for (const std::size_t i : late) {
      prepared[i]->start();
      flying.push_back(i);
    }
    std::ranges::shuffle(flying, own);
    std::vector<found> ended(calls.size(), found::result);
    for (const std::size_t i : flying) {
      while (own() % 3 == 0 && !prepared[i]->done()) continue;
      ended[i] = prepared[i]->finish();
    }
    for (const found each : ended) check_told(world, each);
  }
}

}  // namespace

std::size_t rows_of_the_table() { return table().size(); }

collective_case case_of_row(std::size_t number, int ranks, std::uint64_t seed) {
  const row& of = table().at(number);
  std::mt19937_64 random(cases::mixed(seed + number));
  collective_case c;
  c.what = of.what;
  c.count = drawn_count(of, ranks, random);
  draw_terms(c, ranks, random);
  c.type = of.type;
  c.by = of.by;
  c.root = of.root == rooted::first ? 0 : of.root == rooted::middle ? ranks / 2 : ranks - 1;
  c.in_place = of.in_place;
  c.uneven = of.counts != blocks::even;
  c.zeros = of.counts == blocks::with_zeros;
  c.started = of.how == form::started;
  c.planned = of.how == form::planned;
  c.thrower = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
  c.at = 1 + static_cast<int>(random() % (random() % 2 == 0 ? 3 : 40));
  c.row = static_cast<int>(number);
  return c;
}

std::vector<std::size_t> drawn_rows(std::size_t count, std::uint64_t seed) {
  if (const char* const one = std::getenv("WEFT_TEST_ROW")) return {std::strtoull(one, nullptr, 10)};
  std::vector<std::size_t> all(table().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  std::ranges::shuffle(all, random);
  if (const char* const some = std::getenv("WEFT_TEST_ROWS")) {
    if (std::string(some) == "all") return all;
    count = std::strtoull(some, nullptr, 10);
  }
  // The rows of the collectives take turns, so that the few of those with few arguments are among them, too.
  std::vector<std::size_t> drawn;
  std::array<std::vector<std::size_t>, weft::schedules::collectives> of;
  for (const std::size_t number : all) of[static_cast<std::size_t>(table()[number].what)].push_back(number);
  for (std::size_t turn = 0; drawn.size() < count && drawn.size() < all.size(); ++turn)
    for (const auto& some : of)
      if (turn < some.size() && drawn.size() < count) drawn.push_back(some[turn]);
  std::ranges::shuffle(drawn, random);
  return drawn;
}

std::vector<std::size_t> rows_of_every_form(std::uint64_t seed) {
  std::vector<std::size_t> all(table().size()), drawn;
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  std::ranges::shuffle(all, random);
  std::set<std::tuple<collective, form, length>> taken;
  for (const std::size_t number : all) {
    const row& of = table()[number];
    if (of.by != combined_by::throwing && taken.emplace(of.what, of.how, of.elements).second) drawn.push_back(number);
  }
  return drawn;
}

collective_case case_here(weft::runtime& runtime, weft::communicator& world, std::size_t number, std::uint64_t seed) {
  collective_case c = case_of_row(number, world.size(), seed);
  const std::uint64_t place = cases::mixed(c.seed + 31 * static_cast<std::uint64_t>(world.rank()));
  // Where half of the ranks' buffers are shared all are now and then, and some are most of the time.
  const bool all_shared = c.seed % 4 == 0, none = c.seed % 4 == 1;
  c.in_node = all_shared || (!none && place % 2 == 0) ? &runtime : nullptr;
  c.out_node = all_shared || (!none && place / 2 % 2 == 0) ? &runtime : nullptr;
  return c;
}

void check_rows(weft::runtime& runtime, weft::communicator& world, const std::vector<std::size_t>& rows,
                std::uint64_t seed) {
  for (const std::size_t number : rows) check_case(world, case_here(runtime, world, number, seed));
}

void overlap_rows(weft::runtime& runtime, weft::communicator& world, const std::vector<std::size_t>& rows,
                  std::uint64_t seed) {
  std::mt19937_64 shared(seed), own(seed + 7 * static_cast<std::uint64_t>(world.rank()) + 1);
  for (std::size_t first = 0; first < rows.size();) {
    const std::size_t some = std::min<std::size_t>(rows.size() - first, 2 + shared() % 4);
    overlap(runtime, world, std::span(rows).subspan(first, some), seed, own);
    first += some;
  }
}

}  // namespace weft_test

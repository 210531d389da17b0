// SPDX-License-Identifier: Apache-2.0
#include "load.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "draw.hpp"

namespace weft_test {
namespace {

constexpr std::size_t long_count = 100'000;
constexpr std::size_t large_message = 1 << 20;
constexpr int kinds = 9;
constexpr double untouched = -4711;

}  // namespace

load::load(weft::runtime& runtime, weft::communicator& world, std::uint64_t seed, board_line& line)
    : world_(world),
      half_(*world.split(world.rank() % 2)),
      seed_(seed),
      line_(line),
      left_(large_message, static_cast<std::byte>(world.rank() + 1)),
      right_(large_message) {
  const std::uint64_t lies = draw(seed, 8, 3);
  std::span<double> all;
  if (lies == 0 || (lies == 1 && world.rank() % 2 == 0)) {
    own_.resize(3 * long_count);
    all = own_;
  } else {
    shared_ = runtime.allocate<double>(3 * long_count);
    all = shared_.span();
  }
  in_ = all.first(long_count);
  out_ = all.subspan(long_count, long_count);
  other_ = all.last(long_count);
  std::ranges::fill(in_, world.rank() + 1);
}

void load::mark_outputs() {
  std::ranges::fill(out_, untouched);
  std::ranges::fill(other_, untouched);
}

void load::check_marks() const {
  const auto marked = [](double each) { return each == untouched; };
  check(std::ranges::all_of(out_, marked) && std::ranges::all_of(other_, marked), "buffers of a call that failed");
}

void load::check(bool right, const char* what) const {
  if (!right)
    throw wrong_result(std::string(what) + ": wrong contents in round " + std::to_string(line_.round.load()) +
                       " of seed " + std::to_string(seed_));
}

void load::round(std::int64_t number) {
  line_.round = number;
  const int kind = static_cast<int>(draw(seed_, static_cast<std::uint64_t>(number), kinds));
  line_.kind = kind;
  switch (kind) {
    case 0:
      return short_sums();
    case 1:
      return long_sum();
    case 2:
      return sums_behind_messages(number);
    case 3:
      return neighbours(16);
    case 4:
      return neighbours(large_message);
    case 5:
      return everyone_to_one(number);
    case 6:
      return large_to_all();
    case 7:
      return rooted(number);
    default:
      return waves(number);
  }
}

void load::short_sums() {
  const int n = world_.size();
  for (int i = 0; i < 20; ++i) {
    std::array<std::int64_t, 3> values{world_.rank(), i, 1};
    world_.allreduce(values, values, weft::sum);
    check(values == std::array<std::int64_t, 3>{std::int64_t{n} * (n - 1) / 2, std::int64_t{n} * i, n},
          "a short all-reduce");
  }
}

void load::long_sum() {
  const double n = world_.size();
  world_.allreduce(in_, out_, weft::sum);
  check(std::all_of(out_.begin(), out_.end(), [=](double x) { return x == n * (n + 1) / 2; }), "a long all-reduce");
}

void load::sums_behind_messages(std::int64_t number) {
  const double n = world_.size();
  std::vector<weft::handle> sums;
  sums.push_back(world_.iallreduce(in_, out_, weft::sum));
  sums.push_back(world_.iallreduce(in_, other_, weft::max));
  neighbours(static_cast<std::size_t>(draw(seed_, static_cast<std::uint64_t>(number) + 1'000'000, 40'000)));
  weft::wait_all(sums);
  check(out_.front() == n * (n + 1) / 2 && out_.back() == out_.front() && other_.front() == n && other_.back() == n,
        "two all-reduces at once");
}

void load::neighbours(std::size_t bytes) {
  const int n = world_.size();
  const int me = world_.rank();
  const int from = (me + n - 1) % n;
  const auto got =
      world_.sendrecv(std::span(left_).first(bytes), (me + 1) % n, 7, std::span(right_).first(bytes), from, 7);
  check(got.bytes == bytes && got.source == from, "a sendrecv");
  const auto expected = static_cast<std::byte>(from + 1);
  check(std::all_of(right_.begin(), right_.begin() + static_cast<std::ptrdiff_t>(bytes),
                    [=](std::byte b) { return b == expected; }),
        "a sendrecv's message");
}

void load::everyone_to_one(std::int64_t number) {
  const int n = world_.size();
  const int one = static_cast<int>(number % n);
  for (const std::size_t count : {std::size_t{1}, std::size_t{5'000}}) {
    const int tag = count == 1 ? 11 : 12;
    if (world_.rank() != one) {
      world_.send(std::span(in_).first(count), one, tag);
      continue;
    }
    for (int i = 1; i < n; ++i) {
      const auto found = i % 2 == 0 ? world_.probe(weft::any_source, tag) : weft::status{};
      const auto got = world_.recv(std::span(out_).first(count), found.source, tag);
      check(got.count<double>() == count && out_[0] == got.source + 1 && out_[count - 1] == out_[0],
            "a receive from anybody");
    }
  }
}

void load::large_to_all() {
  const int n = world_.size();
  const std::size_t each = large_message / 4;
  std::vector<std::vector<std::byte>> got(static_cast<std::size_t>(n), std::vector<std::byte>(each));
  std::vector<weft::handle> all;
  for (int i = 1; i < n; ++i) {
    const int from = (world_.rank() + n - i) % n;
    all.push_back(world_.irecv(got[static_cast<std::size_t>(from)], from, 13));
    all.push_back(world_.isend(std::span(left_).first(each), (world_.rank() + i) % n, 13));
  }
  weft::wait_all(all);
  for (int from = 0; from < n; ++from)
    check(from == world_.rank() || (got[static_cast<std::size_t>(from)].front() == static_cast<std::byte>(from + 1) &&
                                    got[static_cast<std::size_t>(from)].back() == static_cast<std::byte>(from + 1)),
          "a message of many");
}

void load::rooted(std::int64_t number) {
  const double n = world_.size();
  const int root = static_cast<int>(number % world_.size());
  const std::size_t count = number % 3 == 0 ? 10 : long_count;
  world_.reduce(std::span(in_).first(count), std::span(out_).first(count), weft::sum, root);
  if (world_.rank() == root) check(out_[0] == n * (n + 1) / 2 && out_[count - 1] == out_[0], "a reduction");
  if (world_.rank() == root) std::fill(other_.begin(), other_.end(), static_cast<double>(number));
  world_.bcast(std::span(other_).first(count), root);
  check(other_[0] == static_cast<double>(number) && other_[count - 1] == other_[0], "a broadcast");
}

void load::waves(std::int64_t number) {
  world_.barrier();
  auto together = world_.ibarrier();
  short_sums();
  together.wait();
  std::int64_t value = number;
  if (world_.rank() != 0) world_.recv(std::span(&value, 1), world_.rank() - 1, 14);
  if (world_.rank() + 1 != world_.size()) world_.send(std::span(&value, 1), world_.rank() + 1, 14);
  check(value == number, "a chain of messages");
}

}  // namespace weft_test

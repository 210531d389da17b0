// SPDX-License-Identifier: Apache-2.0
#include "collective_cases.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <exception>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "case_operands.hpp"
#include "expect.hpp"

namespace weft_test {
namespace {

using namespace cases;
using weft::schedules::collective;

constexpr std::array kinds{"the built-in", "the caller's", "an ordered", "a throwing"};

struct thrown_by_case : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How many elements `from` has for `to`, or, but for all-to-alls, how many the block of rank `to` has.
std::size_t uneven_count(const collective_case& c, int from, int to) {
  if (c.in_place && c.what == collective::alltoall && from > to) std::swap(from, to);  // as many out as in
  const std::uint64_t random = mixed(c.seed + static_cast<std::uint64_t>(from) * 1009 + static_cast<std::uint64_t>(to));
  if (c.count == 0 || (c.zeros && random % 3 == 0)) return 0;
  return 1 + static_cast<std::size_t>(random >> 8) % c.count;
}

template <class T>
class caller : public prepared_case {
 public:
  caller(weft::communicator& world, const collective_case& c) : world_(world), c_(c) {
    for (int r = 0; r < world.size(); ++r) {
      const bool pairs = c.what == collective::alltoall;
      counts_.push_back(c.uneven ? uneven_count(c, pairs ? world.rank() : 0, r) : c.count);
      received_.push_back(c.uneven ? uneven_count(c, pairs ? r : 0, pairs ? world.rank() : r) : c.count);
    }
    in_.emplace(in_count(), c.in_node);
    out_.emplace(out_count(), c.out_node);
    from_ = in_->values();
    into_ = out_->values();
    before_ = std::accumulate(counts_.begin(), counts_.begin() + world_.rank(), std::size_t{0});
    share_buffers();
    if (c_.planned) make();
  }

  void start() override {
    calls_ = 0;
    threw_ = false;
    failure_ = nullptr;
    shift_ = 1013 * runs_++;
    std::ranges::fill(into_, guarded<T>::marker());
    given_ = input();
    std::copy(given_.begin(), given_.end(), from_.begin());
    if (c_.planned) return plan_.start();
    if (c_.started) return make();
    try {
      make();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  bool done() override {
    if (!c_.started && !c_.planned) return true;
    try {
      return c_.started ? handle_.test() : plan_done_ || (plan_done_ = plan_.test());
    } catch (...) {
      failure_ = std::current_exception();
      handle_ = {};
      return plan_done_ = true;
    }
  }

  found finish() override {
    const found ended = outcome();
    if (ended == found::result) {
      if (has_output()) {
        compare(into_, expected(), "the output");
      } else if (into_.data() != from_.data()) {
        compare(into_, std::vector<T>(into_.size(), guarded<T>::marker()), "an output that is not used");
      }
    }
    const bool apart = from_.data() == in_->values().data() && into_.data() == out_->values().data();
    if (apart || (ended == found::result && !has_output())) compare(from_, given_, "the input");
    if (!in_->whole_outside() || !out_->whole_outside())
      expect(false, text(), ": what lies beside a buffer to be untouched");
    return ended;
  }

  void repeat() override {
    if (c_.planned)
      plan_.start();
    else
      make();
    if (c_.planned) plan_.wait();
    if (c_.started) handle_.wait();
  }

 private:
  bool root() const { return world_.rank() == c_.root; }
  bool in_blocks() const {
    return c_.what == collective::reduce_scatter || c_.what == collective::scatter || c_.what == collective::alltoall;
  }
  bool out_blocks() const {
    return c_.what == collective::allgather || c_.what == collective::gather || c_.what == collective::alltoall;
  }
  std::size_t own() const { return counts_[static_cast<std::size_t>(world_.rank())]; }
  static std::size_t sum(const std::vector<std::size_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  }

  bool has_output() const {
    if (c_.what == collective::reduce || c_.what == collective::gather) return root();
    return c_.what != collective::exscan || world_.rank() != 0;
  }
  std::size_t in_count() const {
    if (c_.what == collective::barrier || c_.what == collective::broadcast) return 0;
    if (c_.what == collective::scatter && !root() && !c_.spare) return 0;
    return in_blocks() ? sum(counts_) : weft::schedules::has_blocks(c_.what) ? own() : c_.count;
  }
  std::size_t out_count() const {
    if (c_.what == collective::barrier || (!has_output() && !c_.spare)) return 0;
    return out_blocks() ? sum(received_) : weft::schedules::has_blocks(c_.what) ? own() : c_.count;
  }

  /// Lets the buffers be the same, or one part of the other, where the case says so.
  void share_buffers() {
    if (c_.what == collective::broadcast) {
      from_ = root() ? into_ : from_;
    } else if (c_.in_place) {
      switch (c_.what) {
        case collective::allgather:
          from_ = into_.subspan(before_, from_.size());
          break;
        case collective::gather:
          if (root()) from_ = into_.subspan(before_, from_.size());
          break;
        case collective::scatter:
          if (root()) into_ = from_.subspan(before_, into_.size());
          break;
        case collective::reduce_scatter:
          into_ = from_.subspan(before_, into_.size());
          break;
        default:
          if (from_.size() == into_.size()) into_ = from_;
          break;
      }
    }
  }

  /// Waits, and sees whether the error is the one that the operator's exception makes.
  found outcome() {
    try {
      if (failure_ != nullptr) std::rethrow_exception(failure_);
      if (c_.started) handle_.wait();
      if (c_.planned && !plan_done_) plan_.wait();
      plan_done_ = false;
    } catch (const thrown_by_case& e) {
      plan_done_ = false;
      expect(threw_ && std::string(e.what()) == "out of range", text(), ": what this rank's operator threw");
      return found::own_exception;
    } catch (const weft::error& e) {
      plan_done_ = false;
      expect(c_.by == combined_by::throwing && !threw_ && e.code() == weft::errc::operation_failed, text(),
             ": no error but where an operator threw: ", e.what());
      const std::string who =
          std::string(weft::schedules::call_name(c_.what)) + " on rank " + std::to_string(world_.rank()) + " of ";
      expect(std::string(e.what()).starts_with(who), who, " at the begin of ", e.what());
      expect(std::string(e.what()).ends_with(": the operator of rank " + std::to_string(c_.thrower) +
                                             " threw: out of range"),
             "who threw in ", e.what());
      return found::told;
    }
    expect(!threw_, text(), ": an exception where the operator threw");
    return found::result;
  }

  void combine(const T* in, T* inout, std::size_t count) {
    if (c_.by == combined_by::throwing && world_.rank() == c_.thrower && ++calls_ == c_.at) {
      threw_ = true;
      throw thrown_by_case("out of range");
    }
    for (std::size_t i = 0; i < count; ++i) inout[i] = combined(in[i], inout[i], c_.op.operation);
  }

  std::vector<T> operands(int rank, std::size_t first, std::size_t count) const {
    std::vector<T> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = operand<T>(rank, shift_ + first + i, c_.op.operation);
    return all;
  }

  std::vector<T> input() const {
    if (c_.what == collective::broadcast) return root() ? operands(c_.root, 0, c_.count) : std::vector<T>();
    return operands(world_.rank(), 0, from_.size());
  }

  std::vector<T> expected() const {
    const std::size_t count = out_count();
    if (c_.what == collective::broadcast) return operands(c_.root, 0, count);
    if (c_.what == collective::scatter) return operands(c_.root, before_, count);
    if (out_blocks()) {
      std::vector<T> all;
      for (int r = 0; count > 0 && r < world_.size(); ++r) {
        std::size_t first = 0;
        if (c_.what == collective::alltoall)
          for (int to = 0; to < world_.rank(); ++to) first += c_.uneven ? uneven_count(c_, r, to) : c_.count;
        const auto block = operands(r, first, received_[static_cast<std::size_t>(r)]);
        all.insert(all.end(), block.begin(), block.end());
      }
      return all;
    }
    const weft::kernels::operation op = c_.op.operation;
    switch (c_.what) {
      case collective::scan:
        return combined_operands<T>(world_.rank() + 1, shift_, count, op);
      case collective::exscan:
        return combined_operands<T>(world_.rank(), shift_, count, op);
      case collective::reduce_scatter:
        return combined_operands<T>(world_.size(), shift_ + before_, count, op);
      default:
        return count == 0 ? std::vector<T>() : *combined_by_all<T>(world_.size(), shift_, count, op);
    }
  }

  /// Calls `body` with the operator of the case.
  template <class Body>
  void with_operator(Body&& body) {
    if constexpr (std::same_as<T, affine>) {
      body(in_order);
    } else {
      if (c_.by == combined_by::builtin) return body(c_.op);
      body(weft::make_operator<T>([this](const T* in, T* inout, std::size_t count) { combine(in, inout, count); },
                                  weft::commutes));
    }
  }

  /// Calls, starts or plans it.
  void make() {
    const std::span<const T> from = from_;
    const auto any_form = [&](auto&& blocking, auto&& starting, auto&& planning) {
      if (c_.started)
        handle_ = starting();
      else if (c_.planned)
        plan_ = planning();
      else
        blocking();
    };
    switch (c_.what) {
      case collective::reduce:
        return with_operator([&](const auto& op) {
          return any_form([&] { world_.reduce(from, into_, op, c_.root); },
                          [&] { return world_.ireduce(from, into_, op, c_.root); },
                          [&] { return world_.plan_reduce(from, into_, op, c_.root); });
        });
      case collective::broadcast:
        return any_form([&] { world_.bcast(into_, c_.root); }, [&] { return world_.ibcast(into_, c_.root); },
                        [&] { return world_.plan_bcast(into_, c_.root); });
      case collective::allreduce:
        return with_operator([&](const auto& op) {
          return any_form([&] { world_.allreduce(from, into_, op); },
                          [&] { return world_.iallreduce(from, into_, op); },
                          [&] { return world_.plan_allreduce(from, into_, op); });
        });
      case collective::scan:
        return with_operator([&](const auto& op) {
          return any_form([&] { world_.scan(from, into_, op); }, [&] { return world_.iscan(from, into_, op); },
                          [&] { return world_.plan_scan(from, into_, op); });
        });
      case collective::exscan:
        return with_operator([&](const auto& op) {
          return any_form([&] { world_.exscan(from, into_, op); }, [&] { return world_.iexscan(from, into_, op); },
                          [&] { return world_.plan_exscan(from, into_, op); });
        });
      case collective::barrier:
        return any_form([&] { world_.barrier(); }, [&] { return world_.ibarrier(); },
                        [&] { return world_.plan_barrier(); });
      case collective::reduce_scatter:
        return with_operator([&](const auto& op) {
          if (c_.uneven)
            return any_form([&] { world_.reduce_scatter(from, into_, op, counts_); },
                            [&] { return world_.ireduce_scatter(from, into_, op, counts_); },
                            [&] { return world_.plan_reduce_scatter(from, into_, op, counts_); });
          return any_form([&] { world_.reduce_scatter(from, into_, op); },
                          [&] { return world_.ireduce_scatter(from, into_, op); },
                          [&] { return world_.plan_reduce_scatter(from, into_, op); });
        });
      case collective::allgather:
        if (c_.uneven)
          return any_form([&] { world_.allgather(from, into_, counts_); },
                          [&] { return world_.iallgather(from, into_, counts_); },
                          [&] { return world_.plan_allgather(from, into_, counts_); });
        return any_form([&] { world_.allgather(from, into_); }, [&] { return world_.iallgather(from, into_); },
                        [&] { return world_.plan_allgather(from, into_); });
      case collective::gather:
        if (c_.uneven)
          return any_form([&] { world_.gather(from, into_, counts_, c_.root); },
                          [&] { return world_.igather(from, into_, counts_, c_.root); },
                          [&] { return world_.plan_gather(from, into_, counts_, c_.root); });
        return any_form([&] { world_.gather(from, into_, c_.root); },
                        [&] { return world_.igather(from, into_, c_.root); },
                        [&] { return world_.plan_gather(from, into_, c_.root); });
      case collective::scatter:
        if (c_.uneven)
          return any_form([&] { world_.scatter(from, into_, counts_, c_.root); },
                          [&] { return world_.iscatter(from, into_, counts_, c_.root); },
                          [&] { return world_.plan_scatter(from, into_, counts_, c_.root); });
        return any_form([&] { world_.scatter(from, into_, c_.root); },
                        [&] { return world_.iscatter(from, into_, c_.root); },
                        [&] { return world_.plan_scatter(from, into_, c_.root); });
      case collective::alltoall:
        if (c_.uneven)
          return any_form([&] { world_.alltoall(from, into_, counts_, received_); },
                          [&] { return world_.ialltoall(from, into_, counts_, received_); },
                          [&] { return world_.plan_alltoall(from, into_, counts_, received_); });
        return any_form([&] { world_.alltoall(from, into_); }, [&] { return world_.ialltoall(from, into_); },
                        [&] { return world_.plan_alltoall(from, into_); });
    }
  }

  void compare(std::span<const T> found, const std::vector<T>& right, const char* what) const {
    if (found.size() != right.size())
      expect(false, text(), ": ", what, " of ", right.size(), " elements, not ", found.size());
    const auto differs = std::mismatch(right.begin(), right.end(), found.begin());
    if (differs.first == right.end()) return;
    expect(false, text(), ": element ", differs.first - right.begin(), " of ", what, " to be ", shown(*differs.first),
           ", found ", shown(*differs.second));
  }

  static auto shown(const T& x) {
    if constexpr (std::same_as<T, affine>)
      return x;
    else
      return +x;
  }

  static std::string_view type_name() {
    if constexpr (std::same_as<T, affine>)
      return "map";
    else
      return weft::kernels::name(weft::kernels::type_of<T>);
  }

  std::string text() const {
    std::ostringstream text;
    text << weft::schedules::call_name(c_.what) << " of " << c_.count << " " << type_name() << "s by "
         << kinds[static_cast<std::size_t>(c_.by)] << ' ' << weft::kernels::name(c_.op.operation) << ", root "
         << c_.root << (c_.in_place ? ", in place" : "") << (c_.uneven ? c_.zeros ? ", with zeros" : ", uneven" : "")
         << (c_.started ? ", started" : "") << (c_.planned ? ", planned" : "") << ", seed " << c_.seed;
    if (c_.by == combined_by::throwing) text << ", of rank " << c_.thrower << " in call " << c_.at;
    if (c_.row >= 0) text << ", row " << c_.row;
    text << ", rank " << world_.rank() << " of " << world_.size();
    return text.str();
  }

  weft::communicator& world_;
  collective_case c_;
  std::vector<std::size_t> counts_, received_;
  std::size_t before_ = 0;  ///< elements of the blocks before this rank's
  std::optional<guarded<T>> in_, out_;
  std::span<T> from_, into_;  ///< what the call is given
  std::vector<T> given_;
  std::size_t runs_ = 0, shift_ = 0;  ///< each start has other numbers
  int calls_ = 0;                     ///< of the operator
  bool threw_ = false, plan_done_ = false;
  std::exception_ptr failure_;
  weft::handle handle_;
  weft::plan plan_;
};

}  // namespace

std::size_t size_of(element type) {
  return type == element::uint8 ? 1 : type == element::float32 || type == element::int32 ? 4 : 8;
}

void draw_terms(collective_case& c, int ranks, std::mt19937_64& random) {
  c.type = static_cast<element>(random() % elements);
  c.op = random() % 2 == 0 ? weft::reduction_operator(weft::sum) : weft::reduction_operator(weft::max);
  c.by = static_cast<combined_by>(random() % 6 % 4 % 3);
  c.root = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
  c.in_place = random() % 2 == 0;
  c.spare = random() % 2 == 0;
  c.zeros = random() % 2 == 0;
  c.seed = random();
}

std::unique_ptr<prepared_case> prepare(weft::communicator& world, const collective_case& c) {
  if (c.by == combined_by::ordered && weft::schedules::combines(c.what))
    return std::make_unique<caller<affine>>(world, c);
  switch (c.type) {
    case element::float32:
      return std::make_unique<caller<float>>(world, c);
    case element::float64:
      return std::make_unique<caller<double>>(world, c);
    case element::int32:
      return std::make_unique<caller<std::int32_t>>(world, c);
    case element::int64:
      return std::make_unique<caller<std::int64_t>>(world, c);
    default:
      return std::make_unique<caller<std::uint8_t>>(world, c);
  }
}

void check_told(weft::communicator& world, found mine) {
  std::vector<int> known{mine == found::own_exception ? 1 : 0, mine == found::told ? 1 : 0, 1};
  world.allreduce(known, known, weft::sum);
  expect(known[2] == world.size(), "the communicator to go on");
  expect(known[0] == 1 || known[1] == 0, "nobody to be told of what did not happen");
}

found check_case(weft::communicator& world, const collective_case& c) {
  const auto prepared = prepare(world, c);
  found ended = found::result;
  for (int i = 0; i < starts_of(c); ++i) {
    prepared->start();
    ended = prepared->finish();
    if (c.by == combined_by::throwing && weft::schedules::combines(c.what)) check_told(world, ended);
  }
  return ended;
}

void check_order(weft::communicator& world, std::size_t count) {
  for (std::size_t i = 0; i < weft::schedules::collectives; ++i) {
    collective_case c;
    c.what = static_cast<collective>(i);
    if (!weft::schedules::combines(c.what)) continue;
    c.count = count;
    c.by = combined_by::ordered;
    c.root = world.size() / 2;
    check_case(world, c);
    c.in_place = c.spare = true;
    check_case(world, c);
  }
}

}  // namespace weft_test

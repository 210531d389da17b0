#include "collective_cases.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <sstream>
#include <vector>

#include "case_operands.hpp"
#include "run_ranks.hpp"

namespace weft_test {
namespace {

using weft::schedules::collective;

/// How many elements `from` has for `to`, or, but for all-to-alls, how many the block of rank `to` has.
std::size_t uneven_count(const collective_case& c, int from, int to) {
  const std::uint64_t random = mixed(c.seed + static_cast<std::uint64_t>(from) * 1009 + static_cast<std::uint64_t>(to));
  return random % 3 == 0 ? 0 : static_cast<std::size_t>(random >> 8) % (c.count + 1);
}

template <class T>
class caller {
 public:
  caller(weft::communicator& world, const collective_case& c)
      : world_(world), c_(c), ranks_(static_cast<std::size_t>(world.size())) {
    for (int r = 0; r < world.size(); ++r) {
      const bool pairs = c.what == collective::alltoall;
      counts_.push_back(c.uneven ? uneven_count(c, pairs ? world.rank() : 0, r) : c.count);
      received_.push_back(c.uneven ? uneven_count(c, pairs ? r : 0, pairs ? world.rank() : r) : c.count);
    }
  }

  void check() {
    if (c_.what == collective::barrier) {
      return call({}, {});
    }
    guarded<T> in(in_count(), c_.in_node), out(out_count(), c_.out_node);
    const std::size_t before = std::accumulate(counts_.begin(), counts_.begin() + world_.rank(), std::size_t{0});
    std::span<T> from = in.values(), into = out.values();
    if (c_.what == collective::broadcast) {
      from = into;
    } else if (c_.in_place) {
      switch (c_.what) {
        case collective::allgather:
          from = into.subspan(before, from.size());
          break;
        case collective::gather:
          if (root()) from = into.subspan(before, from.size());
          break;
        case collective::scatter:
          if (root()) into = from.subspan(before, into.size());
          break;
        case collective::reduce_scatter:
          into = from.subspan(before, into.size());
          break;
        default:
          if (from.size() == into.size()) into = from;
          break;
      }
    }
    const std::vector<T> given = input();
    std::copy(given.begin(), given.end(), from.begin());
    call(from, into);
    compare(into, expected(), "the output");
    if (from.data() == in.values().data() && into.data() == out.values().data()) compare(from, given, "the input");
    if (!in.whole_outside() || !out.whole_outside())
      expect(false, text(), ": what lies beside a buffer to be untouched");
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

  std::size_t in_count() const {
    if (c_.what == collective::scatter && !root()) return 0;
    if (c_.what == collective::broadcast) return 0;
    return in_blocks() ? sum(counts_) : weft::schedules::has_blocks(c_.what) ? own() : c_.count;
  }
  std::size_t out_count() const {
    if ((c_.what == collective::reduce || c_.what == collective::gather) && !root()) return 0;
    if (c_.what == collective::exscan && world_.rank() == 0) return 0;
    return out_blocks() ? sum(received_) : weft::schedules::has_blocks(c_.what) ? own() : c_.count;
  }

  std::vector<T> operands(int rank, std::size_t first, std::size_t count) const {
    std::vector<T> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = operand<T>(rank, first + i, c_.op.operation);
    return all;
  }

  std::vector<T> input() const {
    if (c_.what == collective::broadcast) return root() ? operands(c_.root, 0, c_.count) : std::vector<T>();
    return operands(world_.rank(), 0, in_count());
  }

  std::vector<T> expected() const {
    const std::size_t count = out_count();
    if (c_.what == collective::broadcast) return operands(c_.root, 0, count);
    const std::size_t before = std::accumulate(counts_.begin(), counts_.begin() + world_.rank(), std::size_t{0});
    if (c_.what == collective::scatter) return operands(c_.root, before, count);
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
        return combined_operands<T>(world_.rank() + 1, 0, count, op);
      case collective::exscan:
        return combined_operands<T>(world_.rank(), 0, count, op);
      case collective::reduce_scatter:
        return combined_operands<T>(world_.size(), before, count, op);
      default:
        return count == 0 ? std::vector<T>() : *combined_by_all<T>(world_.size(), count, op);
    }
  }

  void call(std::span<T> in, std::span<T> out) {
    const std::span<const T> from = in;
    const std::vector<T> before_in(in.begin(), in.end()), before_out(out.begin(), out.end());
    const auto any_form = [&](auto&& blocking, auto&& starting, auto&& planning) {
      if (c_.started) return static_cast<void>(starting().wait());
      if (!c_.planned) return blocking();
      weft::plan planned = planning();
      for (int i = 0; i < 3; ++i) {
        std::copy(before_out.begin(), before_out.end(), out.begin());
        std::copy(before_in.begin(), before_in.end(), in.begin());
        planned.start();
        planned.wait();
      }
    };
    switch (c_.what) {
      case collective::reduce:
        return any_form([&] { world_.reduce(from, out, c_.op, c_.root); },
                        [&] { return world_.ireduce(from, out, c_.op, c_.root); },
                        [&] { return world_.plan_reduce(from, out, c_.op, c_.root); });
      case collective::broadcast:
        return any_form([&] { world_.bcast(out, c_.root); }, [&] { return world_.ibcast(out, c_.root); },
                        [&] { return world_.plan_bcast(out, c_.root); });
      case collective::allreduce:
        return any_form([&] { world_.allreduce(from, out, c_.op); },
                        [&] { return world_.iallreduce(from, out, c_.op); },
                        [&] { return world_.plan_allreduce(from, out, c_.op); });
      case collective::scan:
        return any_form([&] { world_.scan(from, out, c_.op); }, [&] { return world_.iscan(from, out, c_.op); },
                        [&] { return world_.plan_scan(from, out, c_.op); });
      case collective::exscan:
        return any_form([&] { world_.exscan(from, out, c_.op); }, [&] { return world_.iexscan(from, out, c_.op); },
                        [&] { return world_.plan_exscan(from, out, c_.op); });
      case collective::barrier:
        return any_form([&] { world_.barrier(); }, [&] { return world_.ibarrier(); },
                        [&] { return world_.plan_barrier(); });
      case collective::reduce_scatter:
        if (c_.uneven)
          return any_form([&] { world_.reduce_scatter(from, out, c_.op, counts_); },
                          [&] { return world_.ireduce_scatter(from, out, c_.op, counts_); },
                          [&] { return world_.plan_reduce_scatter(from, out, c_.op, counts_); });
        return any_form([&] { world_.reduce_scatter(from, out, c_.op); },
                        [&] { return world_.ireduce_scatter(from, out, c_.op); },
                        [&] { return world_.plan_reduce_scatter(from, out, c_.op); });
      case collective::allgather:
        if (c_.uneven)
          return any_form([&] { world_.allgather(from, out, counts_); },
                          [&] { return world_.iallgather(from, out, counts_); },
                          [&] { return world_.plan_allgather(from, out, counts_); });
        return any_form([&] { world_.allgather(from, out); }, [&] { return world_.iallgather(from, out); },
                        [&] { return world_.plan_allgather(from, out); });
      case collective::gather:
        if (c_.uneven)
          return any_form([&] { world_.gather(from, out, counts_, c_.root); },
                          [&] { return world_.igather(from, out, counts_, c_.root); },
                          [&] { return world_.plan_gather(from, out, counts_, c_.root); });
        return any_form([&] { world_.gather(from, out, c_.root); }, [&] { return world_.igather(from, out, c_.root); },
                        [&] { return world_.plan_gather(from, out, c_.root); });
      case collective::scatter:
        if (c_.uneven)
          return any_form([&] { world_.scatter(from, out, counts_, c_.root); },
                          [&] { return world_.iscatter(from, out, counts_, c_.root); },
                          [&] { return world_.plan_scatter(from, out, counts_, c_.root); });
        return any_form([&] { world_.scatter(from, out, c_.root); },
                        [&] { return world_.iscatter(from, out, c_.root); },
                        [&] { return world_.plan_scatter(from, out, c_.root); });
      case collective::alltoall:
        if (c_.uneven)
          return any_form([&] { world_.alltoall(from, out, counts_, received_); },
                          [&] { return world_.ialltoall(from, out, counts_, received_); },
                          [&] { return world_.plan_alltoall(from, out, counts_, received_); });
        return any_form([&] { world_.alltoall(from, out); }, [&] { return world_.ialltoall(from, out); },
                        [&] { return world_.plan_alltoall(from, out); });
    }
  }

  void compare(std::span<const T> found, const std::vector<T>& right, const char* what) const {
    if (found.size() != right.size())
      expect(false, text(), ": ", what, " of ", right.size(), " elements, not ", found.size());
    const auto differs = std::mismatch(right.begin(), right.end(), found.begin());
    if (differs.first == right.end()) return;
    expect(false, text(), ": element ", differs.first - right.begin(), " of ", what, " to be ", *differs.first,
           ", found ", *differs.second);
  }

  std::string text() const {
    std::ostringstream text;
    text << weft::schedules::call_name(c_.what) << " of " << c_.count << " "
         << weft::kernels::name(weft::kernels::type_of<T>) << "s by " << weft::kernels::name(c_.op.operation)
         << ", root " << c_.root << (c_.in_place ? ", in place" : "") << (c_.uneven ? ", uneven" : "")
         << (c_.started ? ", started" : "") << (c_.planned ? ", planned" : "") << ", seed " << c_.seed << ", rank "
         << world_.rank() << " of " << world_.size();
    return text.str();
  }

  weft::communicator& world_;
  const collective_case& c_;
  std::size_t ranks_;
  std::vector<std::size_t> counts_, received_;
};

}  // namespace

void draw_terms(collective_case& c, int ranks, std::mt19937_64& random) {
  c.type = static_cast<element>(random() % elements);
  c.op = random() % 2 == 0 ? weft::reduction_operator(weft::sum) : weft::reduction_operator(weft::max);
  c.root = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
  c.in_place = random() % 2 == 0;
  c.seed = random();
}

void check_case(weft::communicator& world, const collective_case& c) {
  switch (c.type) {
    case element::float32:
      return caller<float>(world, c).check();
    case element::float64:
      return caller<double>(world, c).check();
    case element::int32:
      return caller<std::int32_t>(world, c).check();
    case element::int64:
      return caller<std::int64_t>(world, c).check();
  }
}

}  // namespace weft_test

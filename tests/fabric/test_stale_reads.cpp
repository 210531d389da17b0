// SPDX-License-Identifier: Apache-2.0
// Rounds and rings of a node's memory on a machine whose memory is as weak as C++ allows: no processor finds more stale
// values. And every order that is written there is needed: without it something goes wrong.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <weft/patterns/at_once.hpp>
#include <weft/patterns/in_groups.hpp>

#include "catch.hpp"
#include "fabric/modelled_shm.hpp"
#include "fabric/weak_memory.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

namespace modelled = weft::modelled;
namespace patterns = weft::patterns;
using weft_test::draws;
using weft_test::weak_memory;

namespace {

using bodies = std::vector<std::function<void()>>;

/// Watches a board of a process.
void watch(weak_memory& on, const modelled::arena_board& its, std::size_t process) {
  const std::string name = " of thread " + std::to_string(process);
  on.watch(&its.lines, sizeof its.lines, 64, "lines" + name);
  on.watch(&its.slots, sizeof its.slots, 512, "slots" + name);
}

/// Boards of the processes of a communicator.
struct boards {
  boards(weak_memory& on, std::size_t size) : all(size), failed(size), by(size) {
    for (std::size_t i = 0; i < size; ++i) {
      all[i] = std::make_unique<modelled::arena_board>();
      failed[i] = std::make_unique<modelled::std::atomic<bool>>();
      by[i] = std::make_unique<modelled::progress>();
      watch(on, *all[i], i);
    }
    std::vector<modelled::arena_board*> places;
    for (const auto& each : all) places.push_back(each.get());
    for (std::size_t i = 0; i < size; ++i)
      rounds.push_back(std::make_unique<modelled::arena_rounds>(places, i, *by[i], *failed[i]));
  }
  /// As in arena_boards::retire().
  void leave(std::size_t self) { all[self]->use.store(1, std::memory_order_release); }

  std::vector<std::unique_ptr<modelled::arena_board>> all;
  std::vector<std::unique_ptr<modelled::std::atomic<bool>>> failed;
  std::vector<std::unique_ptr<modelled::progress>> by;
  std::vector<std::unique_ptr<modelled::arena_rounds>> rounds;
};

/// A party of weft/patterns/party.hpp, of vectors of numbers.
class rounds_party {
 public:
  using place = std::uint64_t*;

  rounds_party(weak_memory& on, modelled::arena_rounds& rounds)
      : on_(on), rounds_(rounds), input_(most), output_(most), operands_(rounds.size()) {}

  static constexpr std::size_t most = modelled::arena_slot_bytes / sizeof(std::uint64_t);

  void start(std::uint32_t call, std::size_t count) {
    call_ = call;
    for (const std::size_t at : ends_of(count)) input_[at] = value_of(self(), at), output_[at] = 0;
  }
  std::uint64_t value_of(std::size_t member, std::size_t at) const { return call_ * 100 + member * 10 + at % 7; }
  std::uint64_t result(std::size_t at) const { return output_[at]; }
  /// Those elements that are looked at.
  std::span<const std::size_t> ends_of(std::size_t count) {
    ends_ = {0, count - 1};
    return std::span(ends_).first(std::min<std::size_t>(count, 2));
  }

  std::size_t size() const { return rounds_.size(); }
  std::size_t self() const { return rounds_.self(); }
  std::uint32_t number() const { return rounds_.number(); }
  place input(std::size_t at) { return input_.data() + at; }
  place output(std::size_t at) { return output_.data() + at; }
  std::span<place> operands() { return operands_; }
  bool begin(std::size_t count) {
    const std::size_t bytes = count * sizeof(std::uint64_t);
    in_line_ = bytes <= modelled::arena_line_bytes;
    const std::size_t in_slot = in_line_ ? 0 : bytes;
    if (on_.random().one_in(2)) return rounds_.begin(call_, call_, in_slot);
    if (rounds_.try_begin(call_, call_, in_slot)) return true;
    on_.give_way();
    return rounds_.end_begin(call_, call_);
  }
  place shown(std::size_t member, std::size_t at) {
    return reinterpret_cast<place>(in_line_ ? rounds_.line(member) : rounds_.slot(member)) + at;
  }
  void copy(place from, place to, std::size_t count) {
    note(from, count);
    on_.note_write(to, count * sizeof *to);
    for (const std::size_t at : ends_of(count)) to[at] = from[at];
  }
  void combine(std::span<const place> from, place to, std::size_t count) {
    for (const place each : from) note(each, count);
    for (const std::size_t at : ends_of(count)) {
      std::uint64_t sum = 0;  // one of those may be `to`
      for (const place each : from) sum += each[at];
      to[at] = sum;
    }
  }
  template <class Reads>
  void publish(patterns::shows, Reads) {
    rounds_.publish();
  }
  bool await(std::size_t member) { return rounds_.await(member, 8) == modelled::arena_rounds::found::here; }
  bool await_others() {
    for (std::size_t i = 0; i < size(); ++i)
      if (i != self() && !await(i)) return false;
    return true;
  }
  void end() { rounds_.end(); }
  void end_with_all() { rounds_.end_with_all(); }
  void end_with_all_in(std::uint32_t since) { rounds_.end_with_all_in(since); }

 private:
  void note(place from, std::size_t count) { on_.note_read(from, count * sizeof *from); }

  weak_memory& on_;
  modelled::arena_rounds& rounds_;
  std::vector<std::uint64_t> input_, output_;
  std::vector<place> operands_;
  std::array<std::size_t, 2> ends_{};
  std::uint32_t call_ = 0;
  bool in_line_ = true;
};

/// Processes that call one collective after the other, and then leave.
class calls_in_rounds {
 public:
  explicit calls_in_rounds(weak_memory& on) : on_(on), of_(on, 2 + on.random().below(std::size_t{3})) {
    for (const auto& each : of_.rounds) parties_.emplace_back(on, *each);
    draws& random = on.random();
    const std::size_t length = random.one_in(4) ? 2 * modelled::arena_depth : 1 + random.below(std::size_t{16});
    const std::size_t kinds = random.one_in(2) ? 1 : std::size_t{call::kinds};
    const std::size_t first = random.below(std::size_t{call::kinds});
    const std::vector<std::size_t> counts{0, 1, 7, 65, 500, 1000, rounds_party::most};
    const std::size_t most_counts = random.one_in(2) ? 3 : counts.size();
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t kind = (first + random.below(kinds)) % call::kinds;
      calls_.push_back({kind, random.below(of_.all.size()), counts[random.below(most_counts)]});
    }
    std::vector<int> ranks(of_.all.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(i);
    std::vector<std::vector<int>> groups{{ranks.begin(), ranks.begin() + 2}, {ranks.begin() + 2, ranks.end()}};
    if (groups.back().empty()) groups.pop_back();
    for (std::size_t i = 0; i < ranks.size(); ++i) levels_.push_back(patterns::two_levels::of(groups, i));
  }

  bodies threads() {
    bodies all;
    for (std::size_t i = 0; i < of_.all.size(); ++i) all.push_back([this, i] { run(i); });
    return all;
  }

 private:
  struct call {
    enum : std::size_t { allreduce, reduce, bcast, barrier, in_groups, kinds };
    std::size_t kind, root, count;
  };

  void run(std::size_t self) {
    rounds_party& p = parties_[self];
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const call& what = calls_[i];
      p.start(static_cast<std::uint32_t>(i + 1), what.count);
      if (!take_part(p, what, levels_[self])) on_.fail("cannot end a call");
      check(p, what);
    }
    of_.leave(self);
  }

  static bool take_part(rounds_party& p, const call& what, const patterns::two_levels& in) {
    const patterns::range all{0, what.count};
    switch (what.kind) {
      case call::allreduce:
        return patterns::reduce_at_once(p, all, patterns::everyone);
      case call::reduce:
        return patterns::reduce_at_once(p, all, patterns::only(what.root));
      case call::bcast:
        return patterns::broadcast_at_once(p, what.root, all);
      case call::barrier:
        return patterns::barrier_of_first(p);
      default:
        return patterns::allreduce_in_groups(p, in, all);
    }
  }

  void check(rounds_party& p, const call& what) {
    if (what.kind == call::barrier || (what.kind == call::reduce && p.self() != what.root)) return;
    for (const std::size_t at : p.ends_of(what.count)) {
      std::uint64_t right = 0;
      for (std::size_t m = 0; m < p.size(); ++m)
        if (what.kind != call::bcast || m == what.root) right += p.value_of(m, at);
      if (p.result(at) != right) on_.fail("has a wrong result");
    }
  }

  weak_memory& on_;
  boards of_;
  std::vector<rounds_party> parties_;
  std::vector<call> calls_;
  std::vector<patterns::two_levels> levels_;
};

/// Processes of one communicator after the other, some of two, whose boards are given again.
class boards_given_again {
 public:
  explicit boards_given_again(weak_memory& on) : on_(on), memory_(3) {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      for (std::size_t b = 0; b < modelled::arena::boards; ++b) watch(on, memory_.board(static_cast<int>(i), b), i);
      processes_.push_back(std::make_unique<process>(memory_, i));
    }
    for (auto& each : members_) {
      const std::size_t but = on.random().below(memory_.size() + 1);
      for (std::size_t m = 0; m < memory_.size(); ++m)
        if (m != but) each.push_back(m);
    }
    calls_ = 1 + static_cast<std::uint32_t>(on.random().below(3));
  }

  bodies threads() {
    bodies all;
    for (std::size_t i = 0; i < processes_.size(); ++i) all.push_back([this, i] { run(i); });
    return all;
  }

 private:
  static constexpr std::size_t communicators = 6;

  struct process {
    process(const modelled::arena& memory, std::size_t self) : boards(memory, static_cast<int>(self)) {}
    modelled::arena_boards boards;
    modelled::progress by;
    modelled::std::atomic<bool> failed;
    std::array<modelled::board_ticket, communicators> tickets;
    modelled::std::atomic<std::uint32_t> told{0};  // of so many the others know the ticket
    std::vector<modelled::arena_boards::seat> others;
    std::vector<modelled::arena_board*> places;
    std::unique_ptr<modelled::arena_rounds> rounds;
    std::unique_ptr<rounds_party> party;
  };

  void run(std::size_t self) {
    process& mine = *processes_[self];
    for (std::uint32_t c = 0; c < communicators; ++c) {
      const std::vector<std::size_t>& members = members_[c];
      const auto found = std::ranges::find(members, self);
      if (found == members.end()) continue;
      while (!(mine.tickets[c] = mine.boards.claim())) on_.give_way();
      // As by messages.
      mine.told.store(c + 1, std::memory_order_release);
      mine.others.clear();
      mine.places.clear();
      for (const std::size_t m : members) {
        process& its = *processes_[m];
        while (its.told.load(std::memory_order_acquire) <= c) on_.give_way();
        const auto number = static_cast<int>(m);
        mine.places.push_back(&memory_.board(number, its.tickets[c].board));
        if (m != self) mine.others.push_back({number, its.tickets[c]});
      }
      mine.rounds = std::make_unique<modelled::arena_rounds>(
          mine.places, static_cast<std::size_t>(found - members.begin()), mine.by, mine.failed);
      mine.party = std::make_unique<rounds_party>(on_, *mine.rounds);
      for (std::uint32_t i = 0; i < calls_; ++i) call(*mine.party, c + i + 1, (c + i) % members.size());
      mine.boards.retire(mine.tickets[c], mine.others);
    }
  }

  /// Nobody waits for those that read.
  void call(rounds_party& p, std::uint32_t number, std::size_t root) {
    p.start(number, 1);
    if (!patterns::broadcast_at_once(p, root, {0, 1})) on_.fail("cannot end a call");
    if (p.result(0) != p.value_of(root, 0)) on_.fail("has a wrong result");
  }

  weak_memory& on_;
  modelled::arena memory_;
  std::vector<std::unique_ptr<process>> processes_;
  std::array<std::vector<std::size_t>, communicators> members_;
  std::uint32_t calls_;
};

/// Processes that use each other's memory in place, until the communicator fails: then each withdraws, and its memory
/// is its own again.
class memory_in_place {
 public:
  explicit memory_in_place(weak_memory& on)
      : on_(on), of_(on, 2 + on.random().below(std::size_t{2})), memory_(of_.all.size()) {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      on.watch(&memory_[i], sizeof memory_[i], 8, "memory of thread " + std::to_string(i));
    calls_ = 1 + static_cast<std::uint32_t>(on.random().below(4));
    patience_ = on.random().below(std::size_t{150});
  }

  bodies threads() {
    bodies all;
    for (std::size_t i = 0; i < memory_.size(); ++i) all.push_back([this, i] { run(i); });
    all.push_back([this] { fail_all(); });
    return all;
  }

 private:
  void run(std::size_t self) {
    modelled::arena_rounds& rounds = *of_.rounds[self];
    for (std::uint32_t i = 0; i < calls_; ++i) {
      std::optional<std::uint32_t> telling;
      if (!call(self, i, telling)) {
        rounds.withdraw();
        for (std::size_t m = 0; telling && m < rounds.size(); ++m)
          while (m != self && rounds.is_using(m, *telling)) on_.give_way();
        return own(self);
      }
      own(self);
    }
  }

  bool call(std::size_t self, std::uint32_t number, std::optional<std::uint32_t>& telling) {
    modelled::arena_rounds& rounds = *of_.rounds[self];
    if (!rounds.begin(number, number)) return false;
    telling = rounds.number();
    if (!meet(self)) return false;
    if (rounds.all_stay())
      for (std::size_t m = 0; m < rounds.size(); ++m) on_.note_write(&memory_[m][self], sizeof memory_[m][self]);
    return !on_.random().one_in(8) && rounds.begin(number, number) && meet(self);
  }

  bool meet(std::size_t self) {
    modelled::arena_rounds& rounds = *of_.rounds[self];
    rounds.publish();
    for (std::size_t m = 0; m < rounds.size(); ++m)
      if (m != self && rounds.await(m) != modelled::arena_rounds::found::here) return false;
    rounds.end_with_all();
    return true;
  }

  void own(std::size_t self) {
    on_.note_read(&memory_[self], sizeof memory_[self]);
    on_.note_write(&memory_[self], sizeof memory_[self]);
  }

  /// As messages do, which say it to one after the other, at some time.
  void fail_all() {
    for (std::size_t m = 0; m < memory_.size(); ++m) {
      for (std::size_t i = 0; i < patience_; ++i) on_.give_way();
      of_.failed[m]->store(true, std::memory_order_relaxed);
      of_.by[m]->ring();
    }
  }

  weak_memory& on_;
  boards of_;
  std::vector<std::array<std::uint64_t, weak_memory::most_threads>> memory_;  // a place for each that uses it
  std::uint32_t calls_;
  std::size_t patience_;
};

/// A process that reads memory that another one told of, by the kernel, while that withdraws and goes on.
class memory_read {
 public:
  explicit memory_read(weak_memory& on) : on_(on), of_(on, 2) {}

  bodies threads() {
    return {[this] { tell(); }, [this] { read(); }};
  }

 private:
  void tell() {
    modelled::arena_rounds& rounds = *of_.rounds[0];
    rounds.begin(1, 1);
    rounds.publish();
    rounds.end();
    rounds.withdraw();
    for (auto& each : memory_) each.store(7, std::memory_order_relaxed);
  }
  void read() {
    modelled::arena_rounds& rounds = *of_.rounds[1];
    rounds.begin(1, 1);
    rounds.publish();
    if (rounds.await(0) != modelled::arena_rounds::found::here) on_.fail("awaits in vain");
    bool changed = false;
    for (const auto& each : memory_) changed = changed || each.load(std::memory_order_relaxed) != 0;
    if (changed && rounds.stays(0)) on_.fail("has read what is no more what it was told of");
  }

  weak_memory& on_;
  boards of_;
  std::array<modelled::std::atomic<std::uint64_t>, 3> memory_;
};

/// A ring that wraps and grows while it is read, and whose writer gives up its reader in the end.
class records_in_a_ring {
 public:
  explicit records_in_a_ring(weak_memory& on)
      : on_(on),
        memory_(room / sizeof(std::uint64_t)),
        writer_(begin(), state_, reading_,
                [this](std::size_t offset, std::size_t bytes) { return reserve(offset, bytes); }),
        reader_(begin(), state_, reading_) {
    on.watch(begin(), room, 64, "ring");
    count_ = 1 + on.random().below(std::size_t{40});
    longest_ = std::size_t{1} << (4 + on.random().below(8));
  }

  bodies threads() {
    return {[this] { write(); }, [this] { read(); }};
  }

 private:
  static constexpr std::size_t room = 128 << 10;

  std::byte* begin() { return reinterpret_cast<std::byte*>(memory_.data()); }
  bool reserve(std::size_t offset, std::size_t bytes) {
    if (offset + bytes > room) on_.fail("needs more of the ring than its records");
    on_.note_write(begin() + offset, bytes);
    return true;
  }
  std::size_t bytes_of(std::size_t number) const { return (number + 1) * 0x9e3779b97f4a7c15u % (longest_ + 1); }

  void write() {
    draws& random = on_.random();
    std::array<std::byte, 1 << 11> bytes;
    for (std::size_t i = 0; i < count_; ++i) {
      bytes.fill(static_cast<std::byte>(i));
      const std::span<const std::byte> record(bytes.data(), bytes_of(i));
      const std::size_t split = random.below(record.size() + 1);
      while (!writer_.put(static_cast<std::uint16_t>(i + 1), record.first(split), record.subspan(split)))
        on_.give_way();
      for (std::size_t turns = random.below(4); turns != 0; --turns) on_.give_way();
    }
    writer_.end();
    for (auto& each : told_) each.store(7, std::memory_order_relaxed);
  }

  void read() {
    draws& random = on_.random();
    for (std::size_t i = 0; i < count_;) {
      bool changed = false;
      for (const auto& each : told_) changed = changed || each.load(std::memory_order_relaxed) != 0;
      if (changed && !reader_.ended()) on_.fail("has read what records tell of no more");
      const auto found = reader_.next();
      if (found.kind == 0) {
        reader_.release();
        on_.give_way();
        continue;
      }
      on_.note_read(found.bytes.data(), found.bytes.size());
      const auto is_right = [&](std::byte each) { return each == static_cast<std::byte>(i); };
      if (found.kind != i + 1 || found.bytes.size() != bytes_of(i) || !std::ranges::all_of(found.bytes, is_right))
        on_.fail("reads another record than was written");
      ++i;
      if (random.one_in(2)) reader_.release();
    }
  }

  weak_memory& on_;
  std::vector<std::uint64_t> memory_;
  modelled::arena_ring_state state_;
  modelled::arena_ring_reading reading_;
  modelled::arena_ring_writer writer_;
  modelled::arena_ring_reader reader_;
  std::array<modelled::std::atomic<std::uint64_t>, 2> told_;
  std::size_t count_, longest_;
};

using place = weak_memory::site;

/// What goes wrong in the run of this seed, where an order is missing there. `met`: orders that runs have come to.
template <class Scenario>
std::string run(std::uint64_t seed, const std::optional<place>& missing, std::vector<place>* met) {
  weak_memory on(seed, missing);
  Scenario what(on);
  std::string wrong = on.run(what.threads());
  for (const place& each : on.sites())
    if (met != nullptr &&
        std::ranges::none_of(*met, [&](const place& known) { return weak_memory::are_same(known, each); }))
      met->push_back(each);
  return wrong;
}

struct scenario {
  const char* name;
  std::string (*run)(std::uint64_t seed, const std::optional<place>& missing, std::vector<place>* met);
  std::uint64_t runs;
};

constexpr scenario scenarios[]{
    {"calls in rounds", run<calls_in_rounds>, 6000},       {"boards given again", run<boards_given_again>, 5000},
    {"memory in place", run<memory_in_place>, 20'000},     {"memory read", run<memory_read>, 5000},
    {"records in a ring", run<records_in_a_ring>, 20'000},
};

/// In the code that is tested; not in what stands in for the rest.
bool is_tested(const place& at) {
  const std::string_view file(at.file_name());
  return file.substr(file.rfind('/') + 1).starts_with("arena_");
}

/// Which nothing depends on: has_come() has acquired the same stamp before.
bool is_spare(const place& at) {
  return std::string_view(at.function_name()).find("::wait_for_stamp(") != std::string_view::npos;
}

}  // namespace

TEST_CASE("nothing that processes share is read before it is there, or written while it is read", "[stale]") {
  const std::uint64_t seed = weft_test::test_seed();
  for (const scenario& each : scenarios) {
    std::string wrong;
    std::uint64_t i = 0;
    for (; i < (weft_test::slowed ? each.runs / 10 : each.runs) && wrong.empty(); ++i)
      wrong = each.run(seed + i, {}, nullptr);
    INFO(each.name << ", WEFT_TEST_SEED=" << seed + i - 1);
    CHECK(wrong == "");
  }
}

TEST_CASE("every order is needed: where it is missing something goes wrong", "[stale]") {
  constexpr std::uint64_t most = 20'000;
  const std::uint64_t seed = weft_test::test_seed();
  std::vector<place> orders;
  for (const scenario& each : scenarios)
    for (std::uint64_t i = 0; i < 50; ++i) each.run(seed + i, {}, &orders);
  std::erase_if(orders, [](const place& at) { return !is_tested(at); });
  CHECK(orders.size() > 20);
  for (const place& missing : orders) {
    if (is_spare(missing)) continue;
    std::string wrong;
    std::uint64_t i = 0;
    for (; i < most && wrong.empty(); ++i)
      for (const scenario& each : scenarios)
        if (wrong.empty()) wrong = each.run(seed + i, missing, nullptr);
    INFO(missing.file_name() << ":" << missing.line() << " in " << missing.function_name()
                             << ", WEFT_TEST_SEED=" << seed);
    CHECK(wrong != "");
  }
}

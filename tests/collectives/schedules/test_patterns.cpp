// SPDX-License-Identifier: Apache-2.0
// Patterns of shared memory in shapes that no row of the table has, and patterns that are wrong.
#include <stdexcept>
#include <utility>
#include <weft/patterns/prefix.hpp>
#include <weft/patterns/reduce_scatter.hpp>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/verifier/verifier.hpp>

#include "catch.hpp"
#include "collectives/schedules/recording_party.hpp"
#include "jobs.hpp"

using namespace weft::schedules;
using namespace weft::patterns;
using weft_test::ContainsSubstring;

namespace {

/// What the verifier says of a call whose ranks all run `pattern`.
template <class Pattern>
std::string fault_of(recorded_call call, Pattern pattern) {
  const auto all = weft_test::schedules_of(call.ranks, [&](int rank, sink& to) {
    call.rank = rank;
    recording_party party(call);
    pattern(party);
    party.emit(to);
  });
  return weft_test::fault_in({call.what, call.root}, all);
}

recorded_call call_of(collective what, int ranks, std::size_t count, std::size_t room, int root = 0) {
  return {what, ranks, 0, root, count, room};
}

/// All ways in which the buffers of some ranks are mapped.
template <class Each>
void for_each_mapping(int ranks, Each&& each) {
  for (unsigned bits = 0; bits < 1u << ranks; ++bits) {
    std::vector<bool> mapped;
    for (int rank = 0; rank < ranks; ++rank) mapped.push_back((bits >> rank & 1) != 0);
    each(mapped);
  }
}

}  // namespace

TEST_CASE("reductions that tell where buffers lie verify, whoever's are mapped", "[patterns]") {
  for (const int ranks : {1, 2, 3, 4})
    for (const std::size_t room : {1u, 3u, 7u, 11u, 30u})
      for (const std::size_t count : {1u, 2u, 7u, 12u})
        for_each_mapping(ranks, [&](const std::vector<bool>& mapped) {
          for (const auto& [reads, shares] : {std::pair(false, false), std::pair(false, true), std::pair(true, false)})
            for (int root = -1; root < ranks; ++root) {  // -1: an all-reduce
              recorded_call call =
                  call_of(root < 0 ? collective::allreduce : collective::reduce, ranks, count, room, std::max(root, 0));
              call.mapped = mapped;
              const auto takes = [root](std::size_t m) { return root < 0 || m == static_cast<std::size_t>(root); };
              CAPTURE(ranks, room, count, mapped, reads, shares, root);
              REQUIRE(fault_of(call, [&, reads = reads, shares = shares](recording_party& p) {
                        const auto piece = [&](range of) { return reduce_at_once(p, of, takes); };
                        reduce_telling(p, count, reads, shares, takes, piece);
                      }) == "");
            }
        });
}

TEST_CASE("broadcasts that tell where buffers lie verify, whoever's are mapped", "[patterns]") {
  for (const int ranks : {1, 2, 3, 4})
    for (const std::size_t room : {1u, 3u, 12u})
      for_each_mapping(ranks, [&](const std::vector<bool>& mapped) {
        for (const bool reads : {false, true})
          for (int root = 0; root < ranks; ++root) {
            recorded_call call = call_of(collective::broadcast, ranks, 7, room, root);
            call.mapped = mapped;
            CAPTURE(ranks, room, mapped, reads, root);
            REQUIRE(fault_of(call, [&](recording_party& p) {
                      broadcast_telling(p, static_cast<std::size_t>(root), 7, reads);
                    }) == "");
          }
      });
}

TEST_CASE("patterns verify for every count about the room of a slot", "[patterns]") {
  for (const int ranks : {1, 2, 3, 5})
    for (const std::size_t room : {5u, 8u})
      for (std::size_t count = 1; count <= 2 * room + 1; ++count) {
        CAPTURE(ranks, room, count);
        for (const bool exclusive : {false, true})
          REQUIRE(fault_of(call_of(exclusive ? collective::exscan : collective::scan, ranks, count, room),
                           [&](recording_party& p) { scan_in_pieces(p, exclusive, count); }) == "");
        const auto whole = count * static_cast<std::size_t>(ranks);
        REQUIRE(fault_of(call_of(collective::reduce_scatter, ranks, count, room),
                         [&](recording_party& p) { reduce_scatter_in_pieces(p, whole); }) == "");
        REQUIRE(fault_of(call_of(collective::reduce_scatter, ranks, count, room),
                         [&](recording_party& p) { reduce_scatter_in_parts(p); }) == "");
        REQUIRE(fault_of(call_of(collective::alltoall, ranks, count, room),
                         [&](recording_party& p) { alltoall_in_parts(p); }) == "");
        const std::pair<collective, moving> moves_blocks[] = {{collective::gather, moving::gather},
                                                              {collective::scatter, moving::scatter},
                                                              {collective::allgather, moving::allgather}};
        for (const auto& [what, kind] : moves_blocks)
          for (int root = 0; root < (is_rooted(what) ? ranks : 1); ++root)
            REQUIRE(fault_of(call_of(what, ranks, count, room, root), [&, kind = kind](recording_party& p) {
                      block_moves(p, kind, static_cast<std::size_t>(root)).in_pieces();
                    }) == "");
        for (const bool reads : {false, true})
          REQUIRE(fault_of(call_of(collective::alltoall, ranks, count, room), [&](recording_party& p) {
                    std::vector<move> moves(p.size());
                    alltoall_with_counts(p, moves, [reads](std::size_t) { return reads; });
                  }) == "");
      }
}

TEST_CASE("patterns of more members than one combine takes verify", "[patterns]") {
  for (const int ranks : {16, 17, 31, 32, 47}) {
    CAPTURE(ranks);
    REQUIRE(fault_of(call_of(collective::allreduce, ranks, 1, 1), [](recording_party& p) {
              reduce_at_once(p, {0, 1}, everyone);
            }) == "");
    REQUIRE(fault_of(call_of(collective::reduce_scatter, ranks, 1, 100),
                     [](recording_party& p) { reduce_scatter_in_pieces(p, p.size()); }) == "");
  }
}

TEST_CASE("patterns that are wrong are found out", "[patterns]") {
  const auto found = [](const recorded_call& call, auto&& pattern, const std::string& what) {
    CHECK_THAT(fault_of(call, pattern), ContainsSubstring(what));
  };
  const auto allreduce = call_of(collective::allreduce, 3, 6, 20);
  // shown before it is written
  found(
      allreduce,
      [](recording_party& p) {
        p.begin(6);
        p.publish(shows::input, everyone);
        p.copy(p.input(0), p.shown(p.self(), 0), 6);
        combine_shown(p, {0, 6});
      },
      "without waiting for");
  // not all awaited
  found(
      allreduce,
      [](recording_party& p) {
        show_input(p, {0, 6}, [&](std::size_t m) { return m == (p.self() + 2) % 3; });
        p.await((p.self() + 1) % 3);
        for (std::size_t i = 0; i < 3; ++i) p.operands()[i] = i == p.self() ? p.input(0) : p.shown(i, 0);
        p.combine(p.operands(), p.output(0), 6);
      },
      "without waiting for");
  // a share taken from another place
  found(
      allreduce,
      [](recording_party& p) {
        p.begin(12);
        p.copy(p.input(0), p.shown(p.self(), 0), 6);
        p.publish(shows::input, everyone);
        p.await_others();
        for (std::size_t i = 0; i < 3; ++i) p.operands()[i] = i == p.self() ? p.input(0) : p.shown(i, 3);
        p.combine(p.operands(), p.output(0), 3);
      },
      "holds another");
  // a contribution twice
  found(
      allreduce,
      [](recording_party& p) {
        show_input(p, {0, 6}, everyone);
        p.await_others();
        for (std::size_t i = 0; i < 3; ++i) p.operands()[i] = i == p.self() ? p.input(0) : p.shown(0, 0);
        p.combine(p.operands(), p.output(0), 6);
      },
      "second time");
  recorded_call in_place = allreduce;
  in_place.mapped = {true, true, true};
  const auto tell = [](recording_party& p) { exchange(p, shows::input, [](std::size_t) { return offers::both; }); };
  // a round too few: a rank ends while others still use its buffers
  found(
      in_place,
      [&](recording_party& p) {
        tell(p);
        p.combine_in_place(share(p, 6, p.self()), everyone);
      },
      "whose end does not wait for that");
  // a share that two ranks write
  found(
      in_place,
      [&](recording_party& p) {
        tell(p);
        p.combine_in_place({0, 6}, everyone);
        meet(p);
      },
      "without waiting for");
  // memory that nobody told of
  found(
      in_place,
      [&](recording_party& p) {
        exchange(p, shows::input, [](std::size_t) { return offers::input; });
        p.combine_in_place(share(p, 6, p.self()), everyone);
        meet(p);
      },
      "without waiting for an offer");
}

TEST_CASE("a pattern cannot be recorded that goes beyond its slot, or claims to have awaited all", "[patterns]") {
  recording_party party(call_of(collective::allreduce, 3, 6, 4));
  CHECK_THROWS_AS(party.begin(5), std::logic_error);
  party.begin(4);
  CHECK_THROWS_AS(party.copy(party.input(0), party.shown(0, 2), 3), std::logic_error);
  party.await(1);
  CHECK_THROWS_AS(party.end_with_all(), std::logic_error);
  party.await(2);
  CHECK_NOTHROW(party.end_with_all());
}

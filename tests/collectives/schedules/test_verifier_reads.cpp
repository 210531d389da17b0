// What the verifier asks of steps that read other ranks' memory.
#include <string>
#include <vector>

#include "catch.hpp"
#include "pair_of_ranks.hpp"

using namespace weft::schedules;
using namespace weft_test::pair;
using weft_test::built;
using weft_test::ContainsSubstring;
using weft_test::fault_in;
using weft_test::said_step;

TEST_CASE(
    "another rank's memory may be read when it has told that it is ready, and written when told that it was read") {
  // Rank 1 reads rank 0's scratch, as ranks of one node do.
  const segment theirs{0, buffer::scratch, 0, {0, 1}};
  const layout root{1, 1, one_block, one_block, 1, 1}, leaf{1, 1, {}, one_block, 1, 1};
  const auto with = [&](bool told, bool waited) {
    std::vector<said_step> owner{{step_kind::copy, -1, {input}, {slot}, {}},
                                 {step_kind::notify, 1, {slot}, {}, {}},
                                 {step_kind::await, 1, {}, {}, {}},
                                 {step_kind::copy, -1, {input}, {slot}, {0}},
                                 {step_kind::copy, -1, {input}, {output}, {}}};
    if (told) owner[1].after = {0};
    if (waited) owner[3].after = {0, 2};
    const std::vector<said_step> reader{{step_kind::await, 0, {theirs}, {}, {}},
                                        {step_kind::copy, -1, {theirs}, {output}, {0}},
                                        {step_kind::notify, 0, {}, {}, {1}}};
    return fault_in({collective::broadcast, 0}, {built(root, owner), built(leaf, reader)});
  };
  REQUIRE(with(true, true) == "");
  REQUIRE(with(false, true) != "");
  REQUIRE_THAT(with(true, false), ContainsSubstring("without waiting for"));
}

TEST_CASE("reading what was not offered, and leaving while one's memory is read, are found") {
  const segment theirs{0, buffer::input, 0, {0, 1}};
  const layout root{1, 1, one_block, one_block, 1, 1}, leaf{1, 1, {}, one_block, 1, 1};
  const auto fault_of = [&](const std::vector<said_step>& owner, const std::vector<said_step>& reader) {
    std::vector<said_step> all{{step_kind::copy, -1, {input}, {output}, {}}};
    all.insert(all.end(), owner.begin(), owner.end());
    return fault_in({collective::broadcast, 0}, {built(root, all), built(leaf, reader)});
  };
  const said_step offers{step_kind::notify, 1, {input}, {}, {}}, stays{step_kind::await, 1, {}, {}, {}};
  const said_step offered{step_kind::await, 0, {theirs}, {}, {}}, tells{step_kind::notify, 0, {}, {}, {1}};
  const said_step reads{step_kind::copy, -1, {theirs}, {output}, {0}};
  REQUIRE(fault_of({offers, stays}, {offered, reads, tells}) == "");

  said_step unaware = reads, early = tells, bare = offers, another = offers;
  unaware.after = {};
  REQUIRE_THAT(fault_of({offers, stays}, {offered, unaware, tells}), ContainsSubstring("without waiting for an offer"));
  early.after = {0};
  REQUIRE_THAT(fault_of({offers, stays}, {offered, reads, early}), ContainsSubstring("whose end does not wait"));
  REQUIRE_THAT(fault_of({offers}, {offered, reads}), ContainsSubstring("whose end does not wait"));
  bare.sources = {};
  REQUIRE_THAT(fault_of({bare, stays}, {offered, reads, tells}), ContainsSubstring("another offer"));
  another.sources = {output};
  REQUIRE_THAT(fault_of({another, stays}, {offered, reads, tells}), ContainsSubstring("another offer"));
}

TEST_CASE("only copies and combines read another rank's memory") {
  const segment theirs{1, buffer::input, 0, {0, 1}}, mine{0, buffer::input, 0, {0, 1}};
  REQUIRE_THAT(fault_in_pair({{step_kind::send, 1, {theirs}, {}, {}}}), ContainsSubstring("has no use for"));
  REQUIRE_THAT(fault_in_pair({{step_kind::notify, 1, {theirs}, {}, {}}}), ContainsSubstring("has no use for"));
  REQUIRE_THAT(fault_in_pair({{step_kind::copy, -1, {mine}, {output}, {}}}), ContainsSubstring("its own memory"));
}

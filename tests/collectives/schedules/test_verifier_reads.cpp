// SPDX-License-Identifier: Apache-2.0
// What the verifier asks of steps that read other ranks' memory.
#include <string>
#include <utility>
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

TEST_CASE("reading more than was offered is found, on either side of it and in another buffer") {
  // Rank 0 has two blocks in its input, its output and two slots of its scratch, and offers some of them.
  const block_set all(block_range{0, 2});
  const layout root{1, 2, all, all, 2, 2}, leaf{1, 2, {}, all, 2, 2};
  const auto memory = [](int owner, buffer in, std::uint32_t slot, block_range elements) {
    return segment{owner, in, slot, elements};
  };
  const auto fault_of = [&](buffer offered, std::uint32_t offered_slot, block_range some, buffer read,
                            std::uint32_t read_slot, block_range taken = {0, 2}) {
    const auto mine = [&](buffer in, std::uint32_t in_slot) { return memory(me, in, in_slot, {0, 2}); };
    const std::vector<said_step> owner{{step_kind::copy, -1, {mine(buffer::input, 0)}, {mine(buffer::output, 0)}, {}},
                                       {step_kind::copy, -1, {mine(buffer::input, 0)}, {mine(buffer::scratch, 0)}, {}},
                                       {step_kind::copy, -1, {mine(buffer::input, 0)}, {mine(buffer::scratch, 1)}, {}},
                                       {step_kind::notify, 1, {memory(me, offered, offered_slot, some)}, {}, {0, 1, 2}},
                                       {step_kind::await, 1, {}, {}, {}}};
    const std::vector<said_step> reader{
        {step_kind::await, 0, {memory(0, offered, offered_slot, some)}, {}, {}},
        {step_kind::copy, -1, {memory(0, read, read_slot, taken)}, {memory(me, buffer::output, 0, taken)}, {0}},
        {step_kind::notify, 0, {}, {}, {1}}};
    return fault_in({collective::broadcast, 0}, {built(root, owner), built(leaf, reader)});
  };
  const block_range both{0, 2}, first{0, 1}, last{1, 1}, none{1, 0};
  for (const buffer in : {buffer::input, buffer::output, buffer::scratch}) {
    REQUIRE(fault_of(in, 0, both, in, 0) == "");
    for (const block_range some : {first, last, none})
      REQUIRE_THAT(fault_of(in, 0, some, in, 0), ContainsSubstring("without waiting for an offer of it"));
  }
  REQUIRE_THAT(fault_of(buffer::scratch, 0, both, buffer::scratch, 1), ContainsSubstring("without waiting for an"));
  // Who reads a slot of scratch reads it from its beginning.
  REQUIRE_THAT(fault_of(buffer::scratch, 0, both, buffer::scratch, 0, last), ContainsSubstring("waiting for an offer"));
  for (const auto& [offered, read] : {std::pair(buffer::input, buffer::output),
                                      {buffer::output, buffer::input},
                                      {buffer::output, buffer::scratch},
                                      {buffer::scratch, buffer::output}})
    REQUIRE_THAT(fault_of(offered, 0, both, read, 0), ContainsSubstring("without waiting for an offer of it"));
}

TEST_CASE("an offer of one rank does not cover the memory of another") {
  // Rank 1 reads rank 0's output, and rank 2 is offered that of rank 1 alone.
  const auto output_of = [](int owner) { return segment{owner, buffer::output, 0, {0, 1}}; };
  const layout root{1, 1, one_block, one_block, 0, 0}, leaf{1, 1, {}, one_block, 0, 0};
  const auto fault_where_2_reads = [&](int owner) {
    const std::vector<said_step> first{{step_kind::copy, -1, {input}, {output}, {}},
                                       {step_kind::notify, 1, {output}, {}, {0}},
                                       {step_kind::await, 1, {}, {}, {}},
                                       {step_kind::await, 2, {}, {}, {}}};
    const std::vector<said_step> second{{step_kind::await, 0, {output_of(0)}, {}, {}},
                                        {step_kind::copy, -1, {output_of(0)}, {output}, {0}},
                                        {step_kind::notify, 0, {}, {}, {1}},
                                        {step_kind::notify, 2, {output}, {}, {1}},
                                        {step_kind::await, 2, {}, {}, {}}};
    const std::vector<said_step> third{{step_kind::await, 1, {output_of(1)}, {}, {}},
                                       {step_kind::copy, -1, {output_of(owner)}, {output}, {0}},
                                       {step_kind::notify, 0, {}, {}, {1}},
                                       {step_kind::notify, 1, {}, {}, {1}}};
    return fault_in({collective::broadcast, 0}, {built(root, first), built(leaf, second), built(leaf, third)});
  };
  REQUIRE(fault_where_2_reads(1) == "");
  REQUIRE_THAT(fault_where_2_reads(0), ContainsSubstring("without waiting for an offer of it"));
}

TEST_CASE("only copies and combines read another rank's memory") {
  const segment theirs{1, buffer::input, 0, {0, 1}}, mine{0, buffer::input, 0, {0, 1}};
  REQUIRE_THAT(fault_in_pair({{step_kind::send, 1, {theirs}, {}, {}}}), ContainsSubstring("has no use for"));
  REQUIRE_THAT(fault_in_pair({{step_kind::notify, 1, {theirs}, {}, {}}}), ContainsSubstring("has no use for"));
  REQUIRE_THAT(fault_in_pair({{step_kind::copy, -1, {mine}, {output}, {}}}), ContainsSubstring("its own memory"));
}

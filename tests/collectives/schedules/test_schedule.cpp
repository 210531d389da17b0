// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <weft/schedules/schedule_sink.hpp>

#include "catch.hpp"

using namespace weft::schedules;

TEST_CASE("blocks are balanced parts of balanced chunks") {
  for (const std::uint32_t chunks : {1u, 2u, 3u, 7u})
    for (const std::uint32_t segments : {1u, 2u, 3u, 5u})
      for (std::size_t elements = 0; elements < 80; ++elements) {
        CAPTURE(chunks, segments, elements);
        const layout cut{chunks, segments, {}, {}, 0, 0};
        std::size_t next = 0, shortest_chunk = elements, longest_chunk = 0;
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
          std::size_t chunk_size = 0, shortest = elements, longest = 0;
          for (std::uint32_t part = 0; part < segments; ++part) {
            const auto [first, count] = elements_of(cut, elements, {chunk * segments + part, 1});
            REQUIRE(first == next);
            next += count;
            chunk_size += count;
            shortest = std::min(shortest, count);
            longest = std::max(longest, count);
          }
          REQUIRE(longest - shortest <= 1);
          shortest_chunk = std::min(shortest_chunk, chunk_size);
          longest_chunk = std::max(longest_chunk, chunk_size);
        }
        REQUIRE(longest_chunk - shortest_chunk <= 1);
        REQUIRE(next == elements);
        REQUIRE(first_element(cut, elements, chunks * segments) == elements);
      }
}

TEST_CASE("most_elements is the most that any blocks in a row hold") {
  for (const std::uint32_t chunks : {1u, 2u, 3u, 7u})
    for (const std::uint32_t segments : {1u, 2u, 3u, 5u})
      for (std::size_t elements = 0; elements < 80; ++elements)
        for (std::uint32_t count = 0; count <= chunks * segments; ++count) {
          const layout cut{chunks, segments, {}, {}, 0, 0};
          std::size_t most = 0;
          for (std::uint32_t first = 0; first + count <= chunks * segments; ++first)
            most = std::max(most, elements_of(cut, elements, {first, count}).count);
          CAPTURE(chunks, segments, elements, count);
          REQUIRE(most_elements(cut, elements, count) == most);
        }
}

TEST_CASE("vectors beyond 32 bits are cut right") {
  const std::size_t elements = (std::size_t{1} << 33) + 3;
  const layout cut{5, 7, {}, {}, 0, 0};
  REQUIRE(elements_of(cut, elements, {0, 35}).count == elements);
  REQUIRE(elements_of(cut, elements, {34, 1}).first + elements_of(cut, elements, {34, 1}).count == elements);
}

TEST_CASE("a schedule_sink counts messages per ordered pair") {
  const segment whole{me, buffer::input, 0, {0, 1}};
  const segment target{me, buffer::output, 0, {0, 1}};
  schedule_sink into;
  into.begin({1, 1, block_range{0, 1}, block_range{0, 1}, 0, 0});
  const step_index first = into.emit(step_kind::send, 1, {&whole, 1}, {}, {});
  into.emit(step_kind::receive, 1, {}, {&target, 1}, {&first, 1});
  into.emit(step_kind::notify, 1, {}, {}, {});
  into.emit(step_kind::send, 2, {&whole, 1}, {}, {});
  const step_index last = into.emit(step_kind::await, 1, {}, {}, {});
  REQUIRE(last == 4);

  const schedule built = into.take();
  REQUIRE(built.steps.size() == 5);
  REQUIRE(built.steps[0].ordinal == 0);
  REQUIRE(built.steps[1].ordinal == 0);
  REQUIRE(built.steps[2].ordinal == 1);
  REQUIRE(built.steps[3].ordinal == 0);
  REQUIRE(built.steps[4].ordinal == 1);
  REQUIRE(built.sources_of(built.steps[3])[0] == whole);
  REQUIRE(built.targets_of(built.steps[1])[0] == target);
  REQUIRE(built.after(built.steps[1])[0] == first);
  REQUIRE(into.result().steps.empty());
}

TEST_CASE("a schedule_sink takes no dependency on a later step") {
  schedule_sink into;
  into.begin({});
  const step_index itself = 0;
  REQUIRE_THROWS_AS(into.emit(step_kind::await, 1, {}, {}, {&itself, 1}), std::invalid_argument);
}

// SPDX-License-Identifier: Apache-2.0
// What people, programs and Graphviz read of steps.
#include <string>
#include <weft/schedules/schedule_sink.hpp>
#include <weft/schedules/step_writers.hpp>

#include "catch.hpp"

using namespace weft::schedules;
using weft_test::ContainsSubstring;

namespace {

/// Two chunks of two segments; a message to rank 12345678, one from it, a copy from a neighbour's memory, a notify.
void emit_some(sink& to) {
  to.begin({2, 2, {}, {}});
  const segment input{me, buffer::input, 0, {0, 2}}, slot{me, buffer::scratch, 3, {3, 1}},
      theirs{2, buffer::work, 0, {1, 1}}, output{me, buffer::output, 0, {1, 1}};
  const step_index sent = to.emit(step_kind::send, 12345678, {&input, 1}, {}, {});
  to.emit(step_kind::receive, 12345678, {}, {&slot, 1}, {});
  to.emit(step_kind::copy, -1, {&theirs, 1}, {&output, 1}, {&sent, 1});
  to.emit(step_kind::notify, 12345678, {}, {}, {});
}

}  // namespace

TEST_CASE("steps as text are a line each") {
  std::string text;
  text_steps to([&](std::string_view line) { text += line; });
  emit_some(to);
  CHECK(text ==
        "     0  send     to 12345678  input 0-1\n"
        "     1  receive  from 12345678  -> scratch[3] 3\n"
        "     2  copy     work 1 of rank 2 -> output 1  after 0\n"
        "     3  notify   to 12345678\n");
}

TEST_CASE("steps as JSON are an object each, with the bytes where they are known") {
  std::string text;
  json_steps to([&](std::string_view part) { text += part; }, partition(10));
  emit_some(to);
  CHECK(text == R"(
  {"step": 0, "kind": "send", "peer": 12345678, "ordinal": 0, "bytes": 5, "sources": [{"in": "input", "first": 0, "count": 2}]},
  {"step": 1, "kind": "receive", "peer": 12345678, "ordinal": 0, "bytes": 2, "targets": [{"in": "scratch", "slot": 3, "first": 3, "count": 1}]},
  {"step": 2, "kind": "copy", "bytes": 2, "sources": [{"in": "work", "owner": 2, "first": 1, "count": 1}], "targets": [{"in": "output", "first": 1, "count": 1}], "after": [0]},
  {"step": 3, "kind": "notify", "peer": 12345678, "ordinal": 1})");
}

TEST_CASE("a graph joins each send to its receive, by ordinal") {
  const segment input{me, buffer::input, 0, {0, 1}}, output{me, buffer::output, 0, {0, 1}};
  const schedule sender = built_by([&](sink& to) {
    to.begin({});
    to.emit(step_kind::send, 1, {&input, 1}, {}, {});
    to.emit(step_kind::send, 1, {&input, 1}, {}, {});
  });
  const schedule receiver = built_by([&](sink& to) {
    to.begin({});
    to.emit(step_kind::receive, 0, {}, {&output, 1}, {});
  });
  std::string text;
  write_dot(std::vector{sender, receiver}, [&](std::string_view part) { text += part; });
  CHECK_THAT(text, ContainsSubstring("r0s0 -> r1s0 [style=bold];"));
  CHECK(text.find("r0s1 ->") == std::string::npos);
  CHECK_THAT(text, ContainsSubstring("r0s0 [label=\"send to 1\\ninput 0\"];"));
}

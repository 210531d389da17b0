// SPDX-License-Identifier: Apache-2.0
// What is recorded of threads and fibers, and what becomes of it in a trace.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>
#include <weft/runtime/clock.hpp>
#include <weft/runtime/scheduler.hpp>
#include <weft/runtime/trace.hpp>
#include <weft/runtime/trace_clock.hpp>
#include <weft/runtime/trace_text.hpp>

#include "catch.hpp"

using namespace weft;

namespace {

trace::record span_of(ticks begin, ticks end, const char* name = "work") {
  trace::record made;
  made.begin = begin;
  made.end = end;
  made.name = name;
  return made;
}

/// A tick is a nanosecond, and the trace begins at 0.
const trace::time_axis plain{{{0, 0}, {1000, 1000}}, {}, 0};

std::string text_of(const trace::track& of) {
  std::string all;
  trace::write_events(of, 3, 2, plain, [](std::uint64_t) { return trace::kernel_name{"sum", "float"}; },
                      [&](std::string_view text) { all += text; });
  return all;
}

std::ptrdiff_t count_of(const std::string& text, const std::string& part) {
  std::ptrdiff_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("a track keeps the latest records and counts the others") {
  trace::recorder recorder(0, 1, 8 * sizeof(trace::record));
  trace::track& its = recorder.of_rank(0);
  CHECK(its.kept() == 0);
  for (ticks i = 0; i < 5; ++i) its.add(span_of(i, i + 1));
  CHECK(its.kept() == 5);
  CHECK(its.dropped() == 0);
  for (ticks i = 5; i < 100; ++i) its.add(span_of(i, i + 1));
  REQUIRE(its.kept() == 8);
  CHECK(its.dropped() == 92);
  for (std::size_t i = 0; i < 8; ++i) CHECK(its.at(i).begin == 92 + i);
}

TEST_CASE("a track takes no more memory than it is given") {
  for (const std::size_t bytes : {std::size_t{1}, sizeof(trace::record), 3 * sizeof(trace::record), std::size_t{4096}}) {
    trace::recorder recorder(0, 1, bytes);
    for (ticks i = 0; i < 1000; ++i) recorder.of_rank(0).add(span_of(i, i));
    CHECK(recorder.of_rank(0).kept() <= std::max<std::size_t>(bytes / sizeof(trace::record), 1));
  }
}

TEST_CASE("what lies within another is within it in the trace, and what does not is a pair") {
  trace::recorder recorder(0, 1, 4096);
  trace::track& its = recorder.of_rank(0);
  its.add(span_of(110, 150, "inner"));
  its.add(span_of(150, 200, "next"));
  its.add(span_of(100, 200, "outer"));
  its.add(span_of(190, 260, "crosses"));
  trace::record apart = span_of(120, 130, "started");
  apart.overlaps = true;
  its.add(apart);
  const std::string text = text_of(its);
  INFO(text);
  CHECK(count_of(text, "\"ph\":\"X\"") == 3);
  CHECK(count_of(text, "\"ph\":\"b\"") == 2);
  CHECK(count_of(text, "\"ph\":\"e\"") == 2);
  CHECK(count_of(text, "\"ph\":\"b\",\"cat\":\"call\",\"name\":\"crosses\"") == 1);
  CHECK(count_of(text, "\"ph\":\"b\",\"cat\":\"call\",\"name\":\"started\"") == 1);
  CHECK(text.find("\"outer\"") < text.find("\"inner\""));
  CHECK(text.find("\"name\":\"outer\",\"pid\":3,\"tid\":2,\"ts\":0.100,\"dur\":0.100") != std::string::npos);
}

TEST_CASE("an event says what is known, and nothing else") {
  trace::recorder recorder(0, 1, 4096);
  trace::track& its = recorder.of_rank(0);
  trace::record call = span_of(0, 10, "allreduce");
  call.communicator = 7;
  call.number = 5;
  call.bytes = 800;
  call.made = trace::form::planned;
  call.by = trace::road::messages;
  call.detail = "ring";
  its.add(call);
  trace::record wait = span_of(20, 30, "wait");
  wait.what = trace::kind::wait;
  wait.peer = 4;
  its.add(wait);
  trace::record kernel = span_of(40, 50);
  kernel.what = trace::kind::kernel;
  kernel.bytes = 16;
  its.add(kernel);
  trace::record of_other = span_of(60, 70, "send");
  of_other.what = trace::kind::transfer;
  of_other.owner = 6;
  of_other.set_tag((std::uint64_t{1} << 61) + 5);
  its.add(of_other);
  const std::string text = text_of(its);
  INFO(text);
  CHECK(count_of(text, R"("args":{"communicator":7,"sequence":5,"bytes":800,"algorithm":"ring","form":"planned","road":"messages"}})") == 1);
  CHECK(count_of(text, R"("cat":"wait","name":"wait","pid":3,"tid":2,"ts":0.020,"dur":0.010,"args":{"for":[4]}})") == 1);
  CHECK(count_of(text, R"("args":{"operator":"sum","type":"float","bytes":16}})") == 1);
  CHECK(count_of(text, R"("name":"send","pid":3,"tid":5,"id":)") == 2);
  CHECK(count_of(text, R"("args":{"tag":2305843009213693957,"bytes":0}})") == 1);
}

TEST_CASE("names are strings of JSON") {
  CHECK(trace::json_string("a\"b\\c\n") == "\"a\\\"b\\\\c\\u000a\"");
  CHECK(trace::microseconds(1234567) == "1234.567");
  CHECK(trace::microseconds(5) == "0.005");
  CHECK(trace::microseconds(-1005) == "-1.005");
}

TEST_CASE("what a part of a call does is recorded where there is a track, and only there") {
  trace::recorder recorder(2, 1, 4096);
  { const trace::part nowhere(trace::kind::sleep, "sleep"); }
  CHECK(recorder.of_rank(0).kept() == 0);
  {
    const trace::on_track_of_call here(recorder);
    CHECK(here.on() == &recorder.of_rank(0));
    const trace::part outer(trace::kind::wait, "wait", 0, 7);
    const trace::part inner(trace::kind::sleep, "sleep");
    const trace::part too_short(trace::kind::step, "copy", trace::least_bytes - 1);
  }
  CHECK(trace::current_track == nullptr);
  const trace::track& its = recorder.of_rank(0);
  REQUIRE(its.kept() == 2);
  CHECK(std::string(its.at(0).name) == "sleep");
  CHECK(its.at(1).peer == 7);
  CHECK(its.at(1).begin <= its.at(0).begin);
  CHECK(its.at(0).end <= its.at(1).end);
}

TEST_CASE("each fiber records on its rank's track, however they take turns") {
  trace::recorder recorder(0, 2, 4096);
  scheduler fibers;
  for (int rank = 0; rank < 2; ++rank)
    fibers
        .spawn([&fibers, rank] {
          for (int i = 0; i < 5; ++i) {
            const trace::part its(trace::kind::wait, "wait", 0, rank);
            scheduler::yield();
          }
          fibers.spawn([rank] { const trace::part its(trace::kind::wait, "wait", 0, 10 + rank); });
        })
        .set_track(&recorder.of_rank(rank));
  fibers.run();
  CHECK(trace::current_track == nullptr);
  for (int rank = 0; rank < 2; ++rank) {
    const trace::track& its = recorder.of_rank(rank);
    REQUIRE(its.kept() == 6);
    for (std::size_t i = 0; i < 5; ++i) CHECK(its.at(i).peer == rank);
    CHECK(its.at(5).peer == 10 + rank);
  }
}

TEST_CASE("other threads are lent tracks, a bounded number of them") {
  trace::recorder recorder(0, 1, 4096);
  const auto make_call = [&] {
    const trace::on_track_of_call here(recorder);
    const trace::part its(trace::kind::sleep, "sleep");
  };
  std::thread(make_call).join();
  std::thread(make_call).join();
  REQUIRE(recorder.all().size() == 2);  // the second has had that of the first
  CHECK(recorder.all()[1]->kept() == 2);
  std::vector<trace::track*> lent;
  std::thread([&] {
    for (trace::track* each = recorder.for_call(); each != nullptr; each = recorder.for_call()) lent.push_back(each);
  }).join();
  CHECK(lent.size() == 64);
  for (trace::track* each : lent) recorder.give_back(*each);
  CHECK(recorder.all().size() == 65);
  CHECK(&recorder.of_thread("worker 1") == &recorder.of_thread("worker 1"));
}

TEST_CASE("ticks become the steady clock's time") {
  const tick_scale scale({1000, 50}, {3000, 5050});  // 2.5 ns each
  CHECK(scale.nanoseconds(1000) == 50);
  CHECK(scale.nanoseconds(2000) == 2550);
  CHECK(scale.nanoseconds(3000) == 5050);
  CHECK(scale.nanoseconds(600) == -950);
  const tick_reading first = read_ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const tick_reading last = read_ticks();
  CHECK(last.at > first.at);
  CHECK(last.nanoseconds - first.nanoseconds >= 20'000'000);
  const tick_scale real(first, last);
  CHECK(real.nanoseconds(last.at) == last.nanoseconds);
}

namespace {

/// Another machine's clock, ahead and faster, asked by messages that take their time.
struct other_machine {
  manual_clock time;
  std::int64_t behind = 0;
  double slower = 0;  ///< nanoseconds in each

  std::int64_t here() const { return time.now().time_since_epoch().count(); }
  std::int64_t there() const { return here() - behind - static_cast<std::int64_t>(static_cast<double>(here()) * slower); }
  trace::clock_question ask(std::int64_t to, std::int64_t fro) {
    trace::clock_question asked;
    asked.sent = here();
    time.advance(std::chrono::nanoseconds(to));
    asked.told = there();
    time.advance(std::chrono::nanoseconds(fro));
    asked.received = here();
    return asked;
  }
};

}  // namespace

TEST_CASE("a clock's offset is that of the shortest way, and its bound holds whatever the way took") {
  other_machine other;
  other.behind = 5'000'000;
  trace::clock_offset found;
  CHECK_FALSE(found.known());
  for (const auto& [to, fro] : std::vector<std::pair<int, int>>{{900, 100}, {70, 10}, {5000, 5000}, {3000, 10}}) {
    found.learn(other.ask(to, fro));
    REQUIRE(found.known());
    CHECK(std::abs(found.offset - other.behind) <= found.error);
    other.time.advance(std::chrono::microseconds(3));
  }
  CHECK(found.error == 40);
}

TEST_CASE("between two comparisons a clock drifts by a line") {
  other_machine other;
  other.behind = -7'000'000'000;
  other.slower = 50e-6;
  trace::clock_offset first, last;
  for (int i = 0; i < 16; ++i) first.learn(other.ask(1000, 900));
  other.time.advance(std::chrono::seconds(10));
  const std::int64_t in_middle = other.here(), its = other.there();
  other.time.advance(std::chrono::seconds(10));
  for (int i = 0; i < 16; ++i) last.learn(other.ask(800, 1000));
  const trace::clock_line line(first, last);
  CHECK(std::abs(line.there(in_middle) - its) <= line.error());
  CHECK(std::abs(trace::clock_line(first, first).there(in_middle) - its) > line.error());  // without the drift
  CHECK(std::abs(trace::clock_line({}, last).there(other.here()) - other.there()) <= last.error);
  CHECK(trace::clock_line().there(12) == 12);
}

// SPDX-License-Identifier: Apache-2.0
// Each parameter of the model, on jobs so small that their times are counted by hand.
#include <limits>
#include <stdexcept>

#include "catch.hpp"
#include "jobs.hpp"

using namespace weft::simulator;
using namespace weft_test;

namespace {

const workload one_message = job_of({{send(1, 10)}, {receive(0, 10)}});

/// Two messages, neither after the other.
const workload two_messages = job_of({{send(1, 10), send(1, 10)}, {receive(0, 10), receive(0, 10)}});

/// Ranks 1 and 2 send to rank 0.
const workload two_senders = job_of({{receive(1, 10), receive(2, 10)}, {send(0, 10)}, {send(0, 10)}});

}  // namespace

TEST_CASE("a message takes L + B G + 2 (o + B O)") {
  machine_model m;
  CHECK(completion(one_message, m) == 0);
  m.latency = 100;
  CHECK(completion(one_message, m) == 100);
  m.gap_per_byte = 3;
  CHECK(completion(one_message, m) == 130);
  m.overhead = 7;
  CHECK(completion(one_message, m) == 144);
  m.overhead_per_byte = 2;
  CHECK(completion(one_message, m) == 184);
  m.gap = 1000;  // there is no second message
  CHECK(completion(one_message, m) == 184);
  for (const port_model ports : {port_model::one, port_model::many}) {
    m.ports = ports;
    CHECK(completion(one_message, m) == 184);
  }
}

TEST_CASE("a message without bytes costs what does not depend on its length") {
  machine_model m;
  m.latency = 100;
  m.overhead = 7;
  m.gap_per_byte = m.overhead_per_byte = 5;
  CHECK(completion(job_of({{send(1, 0)}, {receive(0, 0)}}), m) == 114);
}

TEST_CASE("messages of one port begin g, or B G, apart") {
  machine_model m;
  m.latency = 100;
  m.gap = 20;
  CHECK(completion(two_messages, m) == 120);
  m.gap_per_byte = 3;  // 30 > g
  CHECK(completion(two_messages, m) == 160);
  m.gap = 50;  // 30 < g
  CHECK(completion(two_messages, m) == 180);
}

TEST_CASE("a port takes messages from two senders one after another") {
  machine_model m;
  m.latency = 100;
  m.gap_per_byte = 3;
  CHECK(completion(two_senders, m) == 160);
  m.gap = 45;  // the second begins g after the first
  CHECK(completion(two_senders, m) == 175);
}

TEST_CASE("one port is taken for the whole of a transfer, many ports never are") {
  machine_model m;
  m.latency = 100;
  m.gap_per_byte = 3;
  m.ports = port_model::one;
  CHECK(completion(two_senders, m) == 260);
  CHECK(completion(two_messages, m) == 260);
  m.gap = 150;  // more than a transfer takes
  CHECK(completion(two_messages, m) == 280);
  m.ports = port_model::many;
  CHECK(completion(two_senders, m) == 130);
  CHECK(completion(two_messages, m) == 130);
}

TEST_CASE("a rank sends and receives at the same time") {
  const workload exchange = job_of({{send(1, 10), receive(1, 10)}, {send(0, 10), receive(0, 10)}});
  machine_model m;
  m.latency = 100;
  m.gap_per_byte = 3;
  for (const port_model ports : {port_model::pipelined, port_model::one, port_model::many}) {
    m.ports = ports;
    CHECK(completion(exchange, m) == 130);
  }
}

TEST_CASE("the CPU does one thing at a time, transfers go on") {
  machine_model m;
  m.overhead = 10;
  m.latency = 100;
  // Rank 0: send overhead to 10, then work to 90. Rank 1: receives at 110 while it works, and takes o after 300.
  const workload busy = job_of({{send(1, 0), calculate(80)}, {calculate(300), receive(0, 0)}});
  const simulation done = simulate(busy, m);
  CHECK(done.ranks[0].finish == 90);
  CHECK(done.ranks[0].busy == 90);
  CHECK(done.ranks[1].finish == 310);
  CHECK(done.ranks[1].busy == 310);
  CHECK(done.completion == 310);
  CHECK(done.idle(0) == 220);
  CHECK(done.idle(1) == 0);
}

TEST_CASE("combining n operands of B bytes costs (n - 1) B c") {
  using weft::schedules::block_range;
  const auto combining = [](std::size_t operands) {
    return workload_of(1, 10, 4, [&](int, weft::schedules::sink& to) {
      using namespace weft::schedules;
      to.begin({1, 1, block_range{0, 1}, block_range{0, 1}, 0, 0});
      const segment in{me, buffer::input, 0, {0, 1}}, out{me, buffer::output, 0, {0, 1}};
      const std::vector<segment> sources(operands, in);
      to.emit(operands == 1 ? step_kind::copy : step_kind::combine, -1, sources, {&out, 1}, {});
    });
  };
  machine_model m;
  m.compute_per_byte = 0.5;
  CHECK(completion(combining(1), m) == 20);  // a copy
  CHECK(completion(combining(2), m) == 20);
  CHECK(completion(combining(5), m) == 80);
}

TEST_CASE("above S, a transfer waits for both sides and a handshake") {
  machine_model m;
  m.latency = 100;
  m.gap_per_byte = 3;
  m.eager_limit = 10;
  CHECK(completion(one_message, m) == 130);  // up to S it is eager
  m.eager_limit = 9;
  CHECK(completion(one_message, m) == 330);  // request, grant, transfer
  const workload late = job_of({{send(1, 10)}, {calculate(500), receive(0, 10, {0})}});
  CHECK(completion(late, m) == 730);  // the request waits until 500: grant, transfer
  m.eager_limit = 10;
  CHECK(completion(late, m) == 500);  // the message has waited at the receiver
}

TEST_CASE("with preposted receives the grant is there first") {
  machine_model m;
  m.latency = 100;
  m.gap_per_byte = 3;
  m.eager_limit = 0;
  m.preposted = true;
  CHECK(completion(one_message, m) == 130);
  const workload late = job_of({{send(1, 10)}, {calculate(500), receive(0, 10, {0})}});
  CHECK(completion(late, m) == 730);  // posted at 500, known at 600
  const workload late_sender = job_of({{calculate(900), send(1, 10, {0})}, {calculate(500), receive(0, 10, {0})}});
  CHECK(completion(late_sender, m) == 1030);  // the grant of 500 is there at 600
}

TEST_CASE("an eager send is done before its transfer, a rendezvous's after") {
  const workload after_send = job_of({{send(1, 10), calculate(1, {0})}, {receive(0, 10)}});
  machine_model m;
  m.latency = 100;
  m.gap_per_byte = 3;
  CHECK(simulate(after_send, m).ranks[0].finish == 1);
  m.eager_limit = 0;
  CHECK(simulate(after_send, m).ranks[0].finish == 231);  // the last byte leaves at 200 + 30
  m.ports = port_model::one;
  CHECK(simulate(after_send, m).ranks[0].finish == 331);
}

TEST_CASE("a model that cannot be is refused by name") {
  machine_model m;
  m.latency = -1;
  CHECK_THROWS_WITH(simulate(one_message, m), ContainsSubstring("latency"));
  m = {};
  m.gap_per_byte = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(simulate(one_message, m), ContainsSubstring("gap per byte"));
  m = {};
  m.noise.period = 10;
  m.noise.duration = 10;
  CHECK_THROWS_WITH(simulate(one_message, m), ContainsSubstring("no time to work"));
}

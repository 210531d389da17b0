// SPDX-License-Identifier: Apache-2.0
// What all ranks do, small enough for a million of them.
//
// Ranks whose steps have the same kinds, dependencies and order of peers share one *shape*: a ring has one, a binomial
// tree one for each number of children. A rank of its own has only its peers, and its amounts where no other rank has
// the same ones in the same order. Steps are folded into this as builders emit them, and none is held.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/partition.hpp>
#include <weft/schedules/schedule.hpp>

namespace weft::simulator {

using schedules::step_index;

enum class operation_kind : std::uint8_t {
  send,
  receive,
  combine,  ///< or copy: so many bytes of work
  fetch,    ///< a copy of bytes that the CPU reads in another rank's memory
  fetch_and_combine,
  calculate,  ///< so much time of work
};

constexpr bool is_message(operation_kind kind) {
  return kind == operation_kind::send || kind == operation_kind::receive;
}

/// One step of one rank.
struct operation {
  operation_kind kind = operation_kind::calculate;
  std::int32_t peer = -1;    ///< of a message
  std::uint32_t tag = 0;     ///< of a message: the k-th send to a peer with a tag meets its k-th receive with that tag
  std::uint64_t amount = 0;  ///< bytes, or time
  std::uint8_t cpu = 0;      ///< of the rank: which of its CPUs does it, through which of its pairs of ports
  std::uint8_t nic = 0;
};

/// The steps of some ranks, but for peers and amounts.
struct shape {
  struct step {
    operation_kind kind;
    std::uint8_t cpu, nic;
    std::uint32_t channel;                              ///< of a message: peer and tag, numbered as they first come up
    std::uint32_t ordinal;                              ///< of a message: among those of its channel and direction
    schedules::table_range ends, begins;                ///< in `before`: what must have ended, or begun, before it
    schedules::table_range ends_before, begins_before;  ///< in `dependents`: for whom it must have ended, or begun
  };
  std::vector<step> steps;
  std::vector<step_index> before, dependents;
  std::vector<step_index> independent;  ///< steps that wait for no other
  struct channel {
    schedules::table_range sends, receives;  ///< in `messages`, by ordinal
  };
  std::vector<channel> channels;
  std::vector<step_index> messages;

  template <class Table>
  static auto part(const Table& table, schedules::table_range range) {
    return std::span(table).subspan(range.first, range.count);
  }
};

/// A message: where it is received.
struct meeting {
  int rank = -1;
  step_index step = 0;
};

/// All ranks' steps: a value. Made by workload_builder.
class workload {
 public:
  struct channel {
    std::int32_t peer;
    std::uint32_t tag;
    std::uint32_t reverse = 0;  ///< the peer's number for it
  };

  int ranks() const noexcept { return static_cast<int>(ranks_.size()); }
  std::uint64_t steps() const noexcept { return steps_; }  ///< of all ranks
  int cpus() const noexcept { return cpus_; }              ///< of each rank
  int nics() const noexcept { return nics_; }
  std::size_t shapes() const noexcept { return shapes_.size(); }
  std::uint64_t channels() const noexcept { return channels_.size(); }  ///< of all ranks
  /// Whether it was read from GOAL text: tags and lengths are then its, and nothing else pairs messages.
  bool is_goal() const noexcept { return is_goal_; }

  const shape& of(int rank) const { return shapes_[at(rank).shape]; }
  std::uint64_t number(int rank, step_index step) const { return at(rank).first_step + step; }  ///< among all ranks'
  const channel& to(int rank, const shape::step& message) const {
    return channels_[at(rank).first_channel + message.channel];
  }
  std::uint64_t amount(int rank, step_index step) const;
  operation describe(int rank, step_index step) const;
  /// The receiving rank's channel of a message, among all ranks'.
  std::uint64_t receiving_channel(int rank, const shape::step& message) const {
    const channel& through = to(rank, message);
    return message.kind == operation_kind::receive ? at(rank).first_channel + message.channel
                                                   : at(through.peer).first_channel + through.reverse;
  }
  /// Asks for what is known of a rank's steps, for a cache.
  void fetch(int rank) const { __builtin_prefetch(&at(rank)); }
  /// Where a message meets its other side.
  meeting other_side(int rank, step_index message) const;

 private:
  friend class workload_builder;
  struct rank_data {
    std::uint32_t shape;
    std::uint8_t amount_width;   ///< bytes: 1, 2 or 4
    std::uint64_t first_amount;  ///< in amount_indices_
    std::uint64_t first_channel;
    std::uint64_t first_step;
  };
  const rank_data& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  std::vector<rank_data> ranks_;
  std::vector<shape> shapes_;
  std::vector<channel> channels_;
  std::vector<std::uint64_t> amounts_;  ///< each that there is, once
  std::vector<std::uint8_t> amount_indices_;
  std::uint64_t steps_ = 0;
  int cpus_ = 1, nics_ = 1;
  bool is_goal_ = false;
};

inline std::uint64_t workload::amount(int rank, step_index step) const {
  const rank_data& of = at(rank);
  const std::uint8_t* const byte = amount_indices_.data() + of.first_amount + std::uint64_t{step} * of.amount_width;
  std::uint32_t index = byte[0];
  for (unsigned i = 1; i < of.amount_width; ++i) index |= std::uint32_t{byte[i]} << (8 * i);
  return amounts_[index];
}

inline meeting workload::other_side(int rank, step_index message) const {
  const shape::step& here = of(rank).steps[message];
  const channel& through = to(rank, here);
  const shape& peer = of(through.peer);
  const shape::channel& there = peer.channels[through.reverse];
  const auto messages = shape::part(peer.messages, here.kind == operation_kind::send ? there.receives : there.sends);
  return {through.peer, messages[here.ordinal]};
}

/// What `builder`, called for each rank from 0 on, emits, for a vector of `counts` elements of
/// `element_size` bytes. That a message's parts may have to be packed is not counted. `arrivals`: when each rank
/// begins, in whole units of the model's times; none: all at 0. Throws what the builder throws, and
/// std::invalid_argument, naming rank and step, for a message that is sent and not received, or the other way round, or
/// received with another length.
workload workload_of(int ranks, const schedules::partition& counts, std::size_t element_size,
                     const std::function<void(int rank, schedules::sink& to)>& builder,
                     std::span<const double> arrivals = {});

/// The same of all ranks of an algorithm; elements are bytes, `bytes` as counts_of counts them. Broadcasts are in place,
/// as calls are: their root copies nothing. Of a reduction over one tree the steps are emitted once for each number of
/// children: all ranks with as many do the same with other peers.
workload workload_of(const schedules::algorithm& how, const schedules::algorithm_arguments& shape, std::size_t bytes);

/// How the ranks of a job are alike: all do the same at the same times where nothing but their numbers sets them apart.
enum class likeness : std::uint8_t {
  none,
  around,  ///< whom rank r sends to, rank r + k sends to k further, around: rings, dissemination, Bruck's algorithms
  exchanging,  ///< who exchanges with r xor p: recursive doubling and pairwise exchanges of 2^m ranks
};

/// Known of the algorithm, where all chunks are as long. Noise, unless it is coscheduled, and a network set ranks
/// apart.
likeness likeness_of(const schedules::algorithm& how, const schedules::algorithm_arguments& shape, std::size_t bytes);

/// The steps of rank 0 alone, which stands for all: what it sends comes back to it, tagged with the peer that it is
/// for.
workload workload_of_alike(likeness ranks, const schedules::algorithm& how, const schedules::algorithm_arguments& shape,
                           std::size_t bytes);

/// Whom a message of such a workload goes to, or comes from.
int peer_of_alike(likeness ranks, int count, const operation& message);

/// "step 7 (send of 64 bytes to rank 4)"
std::string name_of(const workload& all, int rank, step_index step);

}  // namespace weft::simulator

// SPDX-License-Identifier: Apache-2.0
// Groups of members, of each of which one, the group's *first*, does the part of all in their buffers. As the ranks of
// a process: those of one worker are a group, and who comes last of them is its first. A party has for it, beside what
// in_place.hpp and blocks.hpp say:
//
//     first_of(m)        the member that does the part of m
//     served()           the members whose part this one does, ascending; none, where another does its own
//     firsts()           all that serve some, ascending
//     everyone()         all members
//     given(m, at)       a place in the input of m, or where firsts show what theirs give, in that
//     taken(m, at)       a place in the output of m
//     begin_showing(each)  begins a round in which firsts show so many elements of each that they serve
//     shown_of(m)        where a first shows those of m
//     use_shown(but_own) from now on given() is what was shown; `but_own`: not that of the members served here
//     near()             elements that with all that makes them stay in the nearest caches
//     asides             places asides(p).at(0) and at(1) of memory for so many
//     pair(giver, taker) what goes from the one to the other in an all-to-all
//
//   long:   all tell the firsts where their buffers lie -> these work in the buffers of all, each on its share, or for
//           those that it serves -> they meet -> each lets go whom it serves
//   short:  all tell their first alone -> this shows what they give, and works for them out of what all show -> lets go
#pragma once

#include <weft/patterns/blocks.hpp>

namespace weft::patterns {

template <class Party>
bool serves(const Party& p) {
  return p.first_of(p.self()) == p.self();
}

/// Whether each member serves itself: then nobody has to be told, or let go.
template <class Party>
bool all_serve(const Party& p) {
  return p.firsts().size() == p.size();
}

/// Of those that await what is published: all firsts.
template <class Party>
struct all_firsts {
  const Party& p;
  bool operator()(std::size_t m) const { return p.first_of(m) == m; }
};

/// All firsts hear where the buffers of all lie.
template <class Party>
bool tell_firsts(Party& p) {
  if (!p.begin_telling(0)) return false;
  p.tell(offers::both);
  p.publish(shows::input, all_firsts<Party>{p});
  if (!serves(p)) {
    p.end();
    return true;
  }
  if (!p.await_others()) return false;
  for (std::size_t m = 0; m < p.size(); ++m)
    if (m != p.self()) p.hear(m, offers::both);
  p.end_with_all();
  return true;
}

/// A round of the firsts: each publishes, and then awaits the others.
template <class Party>
void publish_to_firsts(Party& p, shows what) {
  if (serves(p))
    p.publish(what, all_firsts<Party>{p});
  else
    p.publish(shows::nothing, nobody);
}

template <class Party>
bool await_firsts(Party& p) {
  if (!serves(p)) return true;
  for (const std::size_t first : p.firsts())
    if (first != p.self() && !p.await(first)) return false;
  return true;
}

template <class Party>
bool meet_firsts(Party& p, shows what) {
  publish_to_firsts(p, what);
  return await_firsts(p);
}

/// Each first hears of those that it serves where their buffers lie.
template <class Party>
bool tell_first(Party& p) {
  if (!p.begin_telling(0)) return false;
  p.tell(offers::both);
  p.publish(shows::input, only(p.first_of(p.self())));
  for (const std::size_t m : p.served()) {
    if (m == p.self()) continue;
    if (!p.await(m)) return false;
    p.hear(m, offers::both);
  }
  p.end();
  return true;
}

/// Each first lets go whom it serves.
template <class Party>
bool let_go(Party& p) {
  if (all_serve(p)) return true;
  if (!p.begin(0)) return false;
  const std::size_t self = p.self();
  if (serves(p)) {
    p.publish(shows::nothing, [&p, self](std::size_t m) { return p.first_of(m) == self; });
  } else {
    p.publish(shows::nothing, nobody);
    if (!p.await(p.first_of(self))) return false;
  }
  p.end();
  return true;
}

/// The firsts do `work` in the buffers of all, and once all have, `then`.
template <class Party, class Work, class Then>
bool serve(Party& p, Work work, Then then) {
  if (!tell_firsts(p)) return false;
  if (serves(p)) work();
  if (!p.begin(0) || !meet_firsts(p, shows::made)) return false;
  p.end();
  if (serves(p) && !then()) return false;
  return let_go(p);
}

// What firsts do:

/// This one's share of a vector.
template <class Party>
range share_of_first(const Party& p, std::size_t count) {
  const auto firsts = p.firsts();
  const auto which = std::ranges::find(firsts, p.self()) - firsts.begin();
  return share_among(p, count, firsts.size(), static_cast<std::size_t>(which));
}

/// The vector of the root, for those served here.
template <class Party>
void copy_for_served(Party& p, std::size_t root, std::size_t count) {
  for (const std::size_t m : p.served()) p.copy(p.given(root, 0), p.taken(m, 0), count);
}

/// The blocks of these members, for the root.
template <class Party>
void gather_of(Party& p, std::size_t root, std::span<const std::size_t> givers) {
  for (const std::size_t m : givers) {
    const range own = p.block(m);
    p.copy(p.given(m, 0), p.taken(root, own.first), own.count);
  }
}

/// The same where firsts have buffers of those alone that they serve.
template <class Party>
void gather_of_shown(Party& p, std::size_t root) {
  if (p.first_of(root) == p.self()) gather_of(p, root, p.everyone());
}

/// The blocks for those served here; not of a gather.
template <class Party>
void move_for_served(Party& p, moving what, std::size_t root) {
  for (const std::size_t m : p.served()) {
    const range own = p.block(m);
    if (what == moving::scatter) {
      p.copy(p.given(root, own.first), p.taken(m, 0), own.count);
    } else {
      for (std::size_t giver = 0; giver < p.size(); ++giver) {
        const range all = p.block(giver);
        const move its = what == moving::alltoall ? p.pair(giver, m) : move{0, all.count, all.first};
        p.copy(p.given(giver, its.from), p.taken(m, its.to), its.count);
      }
    }
  }
}

/// Of a reduce-scatter, their blocks.
template <class Party>
void combine_for_served(Party& p) {
  const auto operands = p.operands();
  for (const std::size_t m : p.served()) {
    const range own = p.block(m);
    for (std::size_t i = 0; i < operands.size(); ++i) operands[i] = p.given(i, own.first);
    p.combine(operands, p.taken(m, 0), own.count);
  }
}

/// Calls `part` with so many elements at a time as stay in caches.
template <class Party, class Part>
void nearby(const Party& p, range of, Part&& part) {
  for (std::size_t done = 0, some = 0; done < of.count; done += some) {
    some = std::min(p.near(), of.count - done);
    part(range{of.first + done, some});
  }
}

/// A scan of these elements for `takers`, from the first member to the last. Where it is in place all take them.
template <class Party, class Members>
void scan_for(Party& p, range all, Members takers) {
  nearby(p, all, [&](range of) {
    auto so_far = p.given(0, of.first);
    std::size_t next = 1;
    for (const std::size_t m : takers) {
      const auto to = p.taken(m, of.first);
      if (m == 0) p.copy(so_far, to, of.count);
      for (; next <= m; ++next) {
        p.combine_two(so_far, p.given(next, of.first), to, of.count);
        so_far = to;
      }
      so_far = to;
    }
  });
}

/// The same without each one's own; `keep` is given what all have together, where `keeps` it. In place the input goes
/// when the output comes.
template <class Party, class Takes, class Keep>
void exscan_for(Party& p, range all, Takes takes, bool keeps, Keep keep) {
  typename Party::asides aside(p);
  nearby(p, all, [&](range of) {
    auto so_far = aside.at(0), next = aside.at(1);
    p.copy(p.given(0, of.first), so_far, of.count);
    for (std::size_t m = 1; m < p.size(); ++m) {
      if (m + 1 < p.size() || keeps) p.combine_two(so_far, p.given(m, of.first), next, of.count);
      if (takes(m)) p.copy(so_far, p.taken(m, of.first), of.count);
      std::swap(so_far, next);
    }
    if (keeps) keep(so_far, of);
  });
}

/// What a first does for a collective of that kind among ranks that are all here: in the buffers of all, or `shown`,
/// for those that it serves, out of what all show. `count`: elements of the vector.
template <class Party, class Collective>
void work_of_first(Party& p, Collective what, std::size_t root, std::size_t count, bool shown) {
  const range mine = shown ? range{0, count} : share_of_first(p, count);
  const auto gets = [&p, shown](std::size_t m) { return !shown || p.first_of(m) == p.self(); };
  switch (what) {
    case Collective::barrier:
      return;
    case Collective::broadcast:
      return copy_for_served(p, root, count);
    case Collective::reduce:
      p.combine_in_place(mine, [&](std::size_t m) { return m == root && gets(m); });
      return;
    case Collective::allreduce:
      p.combine_in_place(mine, gets);
      return;
    case Collective::reduce_scatter:
      return combine_for_served(p);
    case Collective::gather:
      return shown ? gather_of_shown(p, root) : gather_of(p, root, p.served());
    case Collective::scatter:
      return move_for_served(p, moving::scatter, root);
    case Collective::allgather:
      return move_for_served(p, moving::allgather, root);
    case Collective::alltoall:
      return move_for_served(p, moving::alltoall, root);
    case Collective::scan:
      return scan_for(p, mine, shown ? p.served() : p.everyone());
    case Collective::exscan:
      return exscan_for(p, mine, gets, false, [](auto, range) {});
  }
}

/// Whether all that show what they give take what all give together, each for itself: then it goes at once, and not by
/// what follows.
template <class Party, class Collective>
bool is_at_once(const Party& p, Collective what) {
  return all_serve(p) && (what == Collective::allreduce || what == Collective::barrier);
}

/// The firsts show each other `each` elements of every member that gives any to such a collective.
template <class Party, class Collective>
bool show_given(Party& p, Collective what, std::size_t root, std::size_t each) {
  if (!p.begin_showing(each)) return false;
  const bool only_root = what == Collective::broadcast || what == Collective::scatter;
  if (each != 0)
    for (const std::size_t m : p.served())
      if (!only_root || m == root) p.copy(p.given(m, 0), p.shown_of(m), each);
  publish_to_firsts(p, shows::input);
  return true;
}

/// They work for those that they serve out of what all have shown.
template <class Party, class Collective>
bool use_given(Party& p, Collective what, std::size_t root, std::size_t count) {
  if (!await_firsts(p)) return false;
  if (count != 0) p.use_shown(what == Collective::reduce || what == Collective::allreduce);
  p.end();
  if (count != 0 && serves(p)) work_of_first(p, what, root, count, true);
  return true;
}

/// Such a collective of which all show the inputs. Where firsts need not be told of those that they serve, show_given
/// and then use_given do the same in two steps.
template <class Party, class Collective>
bool serve_all_shown(Party& p, Collective what, std::size_t root, std::size_t count, std::size_t each) {
  if (!all_serve(p) && !tell_first(p)) return false;
  return show_given(p, what, root, each) && use_given(p, what, root, count) && let_go(p);
}

}  // namespace weft::patterns

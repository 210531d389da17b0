// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <weft/schedules/algorithms.hpp>
#include <weft/schedules/builders.hpp>
#include <weft/schedules/staged.hpp>

#include "algorithm_costs.hpp"
#include "groups.hpp"
#include "reduction_shapes.hpp"
#include "shared_memory.hpp"

namespace weft::schedules {
namespace {

using arguments = algorithm_arguments;

ring ring_of(const arguments& of) { return {of.ranks, of.order, of.by}; }
std::size_t lead_of_leaves(const arguments& of) { return two_tree_lead(of.ranks, of.transfer, of.compute, of.latency); }

constexpr unsigned piped = takes::segments | takes::window, piped_shares = piped | takes::segments_of_share,
                   cut_shares = piped_shares | takes::degree | takes::best_degree,
                   by_arrival = piped | takes::costs | takes::rank_costs | takes::arrivals_of_calls;
constexpr std::string_view patarasuk = "Patarasuk and Yuan 2009", heimlich = "Heimlich 2003",
                           canon = "Canon and Antoniu 2012", canon_proficz = "Canon and Antoniu 2012, Proficz 2018",
                           matsuda = "Matsuda and others 2006", moody = "Moody and others 2003",
                           thakur = "Thakur, Rabenseifner and Gropp 2005", bruck = "Bruck and others 1997",
                           sanders = "Sanders, Speck and Träff 2009", hillis = "Hillis and Steele 1986",
                           bayatpour = "Bayatpour and others 2017", chakraborty = "Chakraborty and others 2017",
                           graham = "Graham and Shipman 2008", hashmi = "Hashmi and others 2018",
                           karonis = "Karonis and others 2000", bienz = "Bienz, Gautam and Kharel 2022",
                           folklore = "folklore";

/// A row of a pattern of shared memory. Operands are combined in the order of the ranks.
template <collective what, memory_pattern by>
constexpr algorithm shared(std::string_view name, unsigned parameters, std::string_view source,
                           std::string_view formula, double (*cost)(const arguments&, double, const path_costs&)) {
  return {what,       name,
          parameters, source,
          formula,    by == memory_pattern::in_groups ? rank_order::kept_in_rows : rank_order::kept,
          cost,       [](const arguments& of, sink& to) { emit_pattern(of, what, by, to); },
          nullptr,    by};
}

/// That of ranks of one process.
template <collective what, memory_pattern by>
constexpr algorithm served() {
  constexpr bool shown = by == memory_pattern::served_shown;
  constexpr auto* cost = shown ? served_shown_cost : served_cost;
  constexpr unsigned parameters = (is_rooted(what) ? takes::root : 0) | takes::groups | (shown ? 0 : takes::segments);
  if constexpr (!combines(what))
    return shared<what, by>(shown ? "served-shown" : "served", parameters, folklore,
                            shown ? "r α + (p - 1) n β: r = 1 for p groups, else 3"
                                  : "r α + (p - 1)/g n β for g groups: r = 2 for p, else 4",
                            copied<cost>);
  else
    return shared<what, by>(shown ? "served-shown" : "served", parameters, folklore,
                            shown ? "r α + (p - 1) n (β + γ): r = 1 for p groups, else 3"
                                  : "r α + (p - 1)/g n (β + γ) for g groups: r = 2 for p, else 4",
                            cost);
}

/// That of ranks of several nodes.
template <collective what>
constexpr algorithm staged(std::string_view formula) {
  constexpr bool is_scan = what == collective::scan || what == collective::exscan;
  constexpr unsigned parameters = (is_rooted(what) ? takes::root : 0) | (flows(what) ? takes::segments : 0) |
                                  (is_scan ? takes::nodes_in_rows : 0) | takes::nodes;
  algorithm row = shared<what, memory_pattern::staged>(
      "staged", parameters, karonis, formula,
      [](const arguments& of, double bytes, const path_costs& each) { return staged_cost(what, of, bytes, each); });
  if constexpr (combines(what)) row.order = rank_order::kept_in_rows;
  return row;
}

const algorithm table[] = {
    {collective::reduce, "binomial", takes::root | piped, folklore, "s ceil(log2 p) (α + n/s β + n/s γ)",
     rank_order::on_request, binomial_cost, reduce_by_place<binomial_shape, binomial_place>, binomial_shape},
    {collective::reduce, "greedy", takes::root | piped | takes::costs | takes::limits, canon,
     "s ceil(log2 p) (α + n/s β + n/s γ) at most", rank_order::on_request, greedy_cost, reduce_by_shape<greedy_shape>,
     greedy_shape},
    {collective::reduce, "uneven", takes::root | piped | takes::costs | takes::rank_costs, canon,
     "s ceil(log2 p) (α + n/s β + n/s γ) at most where ranks are alike", rank_order::not_kept, greedy_cost,
     reduce_by_shape<uneven_shape>, uneven_shape},
    {collective::reduce, "arrival", takes::root | by_arrival, canon_proficz,
     "T + d + c at least, where the last of the ranks comes at T, d = α + n β, c = n γ; greedy where all come at once",
     rank_order::not_kept, greedy_cost, reduce_by_shape<uneven_shape>, uneven_shape},
    {collective::reduce, "fibonacci", takes::root | piped, canon,
     "s (d + (k - 1) max(d, c) + c) at most, d = α + n/s β, c = n/s γ, F(k + 2) >= p", rank_order::on_request,
     fibonacci_cost, reduce_by_shape<fibonacci_shape>, fibonacci_shape},
    {collective::reduce, "fnomial", takes::root | piped | takes::degree, moody,
     "s (f - 1) ceil(log_f p) (α + n/s β + n/s γ) at most", rank_order::on_request, fnomial_cost,
     reduce_by_place<fnomial_shape, fnomial_place>, fnomial_shape},
    {collective::reduce, "fnomial-split", takes::root | piped | takes::degree | takes::splits, moody,
     "k splits: (1 - 2^-k) n (β + γ) + s k α + fnomial(p / 2^k, n / 2^k) + (2^k - 1) (s α + n / 2^k β)",
     rank_order::not_kept, fnomial_split_cost,
     [](const arguments& of, sink& to) {
       split_reduce({of.ranks, of.root, of.splits, of.degree, of.by}, of.rank, to);
     }},
    {collective::reduce, "chain", takes::root | piped, folklore, "(p + s - 2) (α + n/s β + n/s γ)",
     rank_order::on_request, chain_cost, reduce_by_place<chain_shape, chain_place>, chain_shape},
    {collective::reduce, "two-tree", takes::root | piped | takes::costs, sanders,
     "(2 floor(log2 p) + 2s) (α + n/2s β + n/2s γ), of two ranks 2s (α + n/2s β + n/2s γ)", rank_order::kept_for_root,
     two_tree_cost,
     [](const arguments& of, sink& to) { two_tree_reduce(of.ranks, of.root, of.rank, of.by, lead_of_leaves(of), to); }},
    {collective::reduce, "multi-leader", takes::root | piped_shares | takes::nodes, bayatpour,
     "3 α' + 2 n β' + n γ of a node, ceil(log2 m) (α + n/q β + n/q γ) between m nodes of q ranks", rank_order::not_kept,
     multi_leader_reduce_cost,
     [](const arguments& of, sink& to) { multi_leader_reduce(nodes_of(of), of.root, of.rank, of.by, to); }},
    shared<collective::reduce, memory_pattern::at_once>("at-once", takes::root | takes::segments, graham,
                                                        "s α + (p - 1) n (β + γ)", at_once_cost),
    shared<collective::reduce, memory_pattern::by_shares>("by-shares", takes::root | takes::segments, graham,
                                                          "(s + 1) α + 2 (p - 1)/p n β + n γ", by_shares_cost),
    shared<collective::reduce, memory_pattern::in_place>("in-place", takes::root | takes::segments, hashmi,
                                                         "2 α + (p - 1)/p n (β + γ)", in_place_cost),
    shared<collective::reduce, memory_pattern::single_copy>("single-copy", takes::root | takes::segments, chakraborty,
                                                            "3 α + 2 (p - 1)/p n β + (p - 1)/p n γ", single_copy_cost),
    served<collective::reduce, memory_pattern::served>(),
    served<collective::reduce, memory_pattern::served_shown>(),
    staged<collective::reduce>("a + T + b, and (s - 1) max(T, a + b) more, for pieces of n/s: a + b = 2 α' + q n/s β' "
                               "+ (q - 1) n/s γ' of a node of q ranks, T the fastest between the nodes"),

    {collective::broadcast, "binomial", takes::root | piped, folklore, "s ceil(log2 p) (α + n/s β)", rank_order::kept,
     binomial_broadcast_cost,
     [](const arguments& of, sink& to) { binomial_broadcast(of.ranks, of.root, of.rank, of.by, to); }},
    {collective::broadcast, "chain", takes::root | piped, folklore, "(p + s - 2) (α + n/s β)", rank_order::kept,
     copied<chain_cost>,
     [](const arguments& of, sink& to) { tree_broadcast(chain_position(of.ranks, of.root, of.rank), of.by, to); }},
    {collective::broadcast, "two-tree", takes::root | piped, sanders,
     "(2 floor(log2 p) + 2s) (α + n/2s β), of two ranks 2s (α + n/2s β)", rank_order::kept, copied<two_tree_cost>,
     [](const arguments& of, sink& to) { two_tree_broadcast(of.ranks, of.root, of.rank, of.by, to); }},
    {collective::broadcast, "van-de-geijn", takes::root | piped_shares, matsuda,
     "(ceil(log2 p) + p - 1) α + 2 (p - 1)/p n β", rank_order::kept,
     [](const arguments& of, double bytes, const path_costs& each) {
       return spread_cost(of, bytes, copying(each)) + ring_cost(of, bytes, copying(each));
     },
     [](const arguments& of, sink& to) {
       van_de_geijn_broadcast(of.ranks, of.root, of.rank, gather_by::ring, of.by, to);
     }},
    {collective::broadcast, "scatter-doubling", takes::root | piped_shares, thakur,
     "2 ceil(log2 p) α + 2 (p - 1)/p n β", rank_order::kept,
     [](const arguments& of, double bytes, const path_costs& each) {
       return spread_cost(of, bytes, copying(each)) + halving_cost(in_halves(of), bytes, copying(each));
     },
     [](const arguments& of, sink& to) {
       van_de_geijn_broadcast(of.ranks, of.root, of.rank, gather_by::recursive_doubling, of.by, to);
     }},
    {collective::broadcast, "far-first", takes::root | piped_shares | takes::groups, matsuda,
     "ceil(log2 g) (α + n β) + 2 (ceil(log2 q) α + (q-1)/q n β) for g clusters of q ranks", rank_order::kept,
     far_first_cost,
     [](const arguments& of, sink& to) { far_first_broadcast(groups_of(of), of.root, of.rank, of.by, to); }},
    {collective::broadcast, "modified-van-de-geijn", takes::root | piped_shares | takes::groups | takes::connections,
     matsuda,
     "ceil(log2 g) (α + n/c β) + 2 (ceil(log2 q) α + (q-1)/q n β) + n/c β at most for g clusters of q ranks, c "
     "connections",
     rank_order::kept, modified_van_de_geijn_cost,
     [](const arguments& of, sink& to) {
       modified_van_de_geijn_broadcast(groups_of(of), of.connections, of.root, of.rank, of.by, to);
     }},
    {collective::broadcast, "reading", takes::root | piped | takes::nodes, chakraborty,
     "2 α' + n β' of a node, ceil(log2 m) (α + n β) between m nodes", rank_order::kept, reading_broadcast_cost,
     [](const arguments& of, sink& to) { reading_broadcast(nodes_of(of), of.root, of.rank, of.by, to); }},
    shared<collective::broadcast, memory_pattern::at_once>("at-once", takes::root | takes::segments, graham,
                                                           "s α + n β", copied<one_reads_cost>),
    shared<collective::broadcast, memory_pattern::in_place>("in-place", takes::root | takes::segments, hashmi,
                                                            "2 α + (p - 1)/p n β", copied<in_place_cost>),
    shared<collective::broadcast, memory_pattern::single_copy>("single-copy", takes::root | takes::segments,
                                                               chakraborty, "2 α + n β", copied<one_reads_told_cost>),
    served<collective::broadcast, memory_pattern::served>(),
    served<collective::broadcast, memory_pattern::served_shown>(),
    staged<collective::broadcast>("a + T + b, and (s - 1) max(T, a + b) more, for pieces of n/s: a = b = α' + n/s β' "
                                  "of a node, a = 0 where the root is its first rank, T the fastest between the nodes"),

    {collective::allreduce, "recursive-doubling", takes::segments, thakur,
     "log2 (p/s) (α + n/s β + n/s γ) + 2 log2 s α + (s - 1)/s n (2 β + γ), and 2 (α + n β) + n γ where p is no power "
     "of two, for s up to p",
     rank_order::kept, doubling_cost,
     [](const arguments& of, sink& to) { recursive_doubling_allreduce(of.ranks, of.rank, of.by, to); }},
    {collective::allreduce, "ring", piped_shares | takes::order, patarasuk,
     "2 (p - 1) α + 2 (p - 1)/p n β + (p - 1)/p n γ", rank_order::not_kept,
     [](const arguments& of, double bytes, const path_costs& each) {
       return ring_cost(of, bytes, each) + ring_cost(of, bytes, copying(each));
     },
     [](const arguments& of, sink& to) { ring_allreduce(ring_of(of), of.rank, to); }},
    {collective::allreduce, "butterfly", cut_shares, "Rabenseifner 2004, Träff 2024",
     "2 ceil(log_r p) (α + (r - 2) g) + 2 (p - 1)/p n β + (p - 1)/p n γ for degree r, gap g", rank_order::not_kept,
     [](const arguments& of, double bytes, const path_costs& each) {
       return halving_cost(of, bytes, each) + halving_cost(of, bytes, copying(each));
     },
     [](const arguments& of, sink& to) { butterfly_allreduce(of.ranks, of.rank, of.degree, of.by, to); }},
    {collective::allreduce, "swing", takes::segments | takes::order | takes::torus, "De Sensi and others 2024",
     "log2 (p/s) (α + n/s β + n/s γ) + 2 log2 s α + (s - 1)/s n (2 β + γ), and 2 (α + n β) + n γ where p is no power "
     "of two, for s up to p",
     rank_order::not_kept, doubling_cost,
     [](const arguments& of, sink& to) { swing_allreduce({of.ranks, of.order, of.torus, of.by}, of.rank, to); }},
    {collective::allreduce, "binomial", piped, folklore, "2 s ceil(log2 p) (α + n/s β) + ceil(log2 p) n γ",
     rank_order::kept, binomial_allreduce_cost,
     [](const arguments& of, sink& to) {
       const tree_position place = binomial_position(of.ranks, 0, of.rank);
       tree_allreduce(place, place, of.by, to);
     }},
    {collective::allreduce, "arrival", by_arrival, canon_proficz,
     "T + c + s ceil(log2 p) (α + n/s β) at least, where the last of the ranks comes at T; c = n γ",
     rank_order::not_kept, binomial_allreduce_cost,  // where all come at once, no less
     [](const arguments& of, sink& to) {
       const int root = latest_rank(of);
       tree_allreduce(arrival_place(of, root), binomial_position(of.ranks, root, of.rank), of.by, to);
     }},
    {collective::allreduce, "two-tree", piped | takes::costs, sanders,
     "2 (2 floor(log2 p) + 2s) (α + n/2s β) and half of it γ, of two ranks 4s (α + n/2s β)", rank_order::kept,
     two_tree_allreduce_cost,
     [](const arguments& of, sink& to) { two_tree_allreduce(of.ranks, of.rank, of.by, lead_of_leaves(of), to); }},
    {collective::allreduce, "smp-binomial", piped | takes::groups, patarasuk,
     "2 (ceil(log2 q) + ceil(log2 g)) (α + n β) and half of it γ for g machines of q ranks", rank_order::kept_in_rows,
     smp_binomial_cost,
     [](const arguments& of, sink& to) { smp_binomial_allreduce(groups_of(of), of.rank, of.by, to); }},
    {collective::allreduce, "smp-butterfly", piped | takes::groups, patarasuk,
     "ceil(log2 q) (2 α + 2 n β + n γ) + 2 ceil(log2 g) α + (g - 1)/g n (2 β + γ) for g machines of q ranks",
     rank_order::not_kept, smp_butterfly_cost,
     [](const arguments& of, sink& to) { smp_butterfly_allreduce(groups_of(of), of.rank, of.by, to); }},
    {collective::allreduce, "two-tier", piped_shares | takes::groups, matsuda,
     "ceil(log2 g) (α + n β + n γ) + 4 (ceil(log2 q) α + (q-1)/q n β) + (q-1)/q n γ for g clusters of q ranks",
     rank_order::not_kept, two_tier_cost,
     [](const arguments& of, sink& to) { two_tier_allreduce(groups_of(of), of.rank, of.by, to); }},
    {collective::allreduce, "modified-rabenseifner", piped_shares | takes::groups | takes::connections, matsuda,
     "ceil(log2 g) (α + n/c β + n/c γ) + 2 (ceil(log2 2q/c) α + (q-1)/q n β + n/c β) + (q-1)/q n γ at most for g "
     "clusters of q ranks, c connections",
     rank_order::not_kept, modified_rabenseifner_cost,
     [](const arguments& of,
        sink& to) { modified_rabenseifner_allreduce(groups_of(of), of.connections, of.rank, of.by, to); }},
    {collective::allreduce, "multi-leader", piped_shares | takes::nodes, bayatpour,
     "3 α' + 2 n β' + n γ of a node, 2 ceil(log2 m) α + 2 (m - 1)/m n/q β + (m - 1)/m n/q γ between m nodes of q ranks",
     rank_order::not_kept, multi_leader_allreduce_cost,
     [](const arguments& of, sink& to) { multi_leader_allreduce(nodes_of(of), of.rank, of.by, to); }},
    shared<collective::allreduce, memory_pattern::at_once>("at-once", takes::segments, graham,
                                                           "s α + (p - 1) n (β + γ)", at_once_cost),
    shared<collective::allreduce, memory_pattern::in_groups>("in-groups", takes::segments | takes::groups, graham,
                                                             "2 s α + (q + g - 2) n (β + γ) for g groups of q ranks",
                                                             in_groups_cost),
    shared<collective::allreduce, memory_pattern::by_shares>("by-shares", takes::segments, graham,
                                                             "(s + 1) α + 2 (p - 1)/p n β + n γ", by_shares_cost),
    shared<collective::allreduce, memory_pattern::in_place>("in-place", takes::segments, hashmi,
                                                            "2 α + (p - 1)/p n (β + γ)", in_place_cost),
    shared<collective::allreduce, memory_pattern::single_copy>(
        "single-copy", takes::segments, chakraborty, "3 α + 2 (p - 1)/p n β + (p - 1)/p n γ", single_copy_cost),
    served<collective::allreduce, memory_pattern::served>(),
    served<collective::allreduce, memory_pattern::served_shown>(),
    staged<collective::allreduce>("a + T + b, and (s - 1) max(T, a + b) more, for pieces of n/s: a + b = 2 α' + q n/s "
                                  "β' + (q - 1) n/s γ' of a node of q ranks, T the fastest between the nodes"),

    {collective::reduce_scatter, "ring", piped_shares | takes::order, heimlich, "(p - 1) (α + n/p β + n/p γ)",
     rank_order::not_kept, ring_cost,
     [](const arguments& of, sink& to) { ring_reduce_scatter(ring_of(of), of.rank, to); }},
    {collective::reduce_scatter, "mst", piped_shares, heimlich,
     "2 ceil(log2 p) α + (ceil(log2 p) + (p - 1)/p) n β + ceil(log2 p) n γ", rank_order::kept,
     [](const arguments& of, double bytes, const path_costs& each) {
       return binomial_cost(of, bytes, each) + spread_cost(of, bytes, copying(each));
     },
     [](const arguments& of, sink& to) { mst_reduce_scatter(of.ranks, of.rank, of.by, to); }},
    {collective::reduce_scatter, "recursive-halving", cut_shares, "Träff 2024",
     "ceil(log_r p) (α + (r - 2) g) + (p - 1)/p n (β + γ) for degree r, gap g", rank_order::not_kept, halving_cost,
     [](const arguments& of, sink& to) { recursive_halving_reduce_scatter(of.ranks, of.rank, of.degree, of.by, to); }},
    {collective::reduce_scatter, "reading", piped_shares | takes::nodes, chakraborty,
     "2 α' + m n/p (q - 1) (β' + γ) of a node, (m - 1) (α + n/p β + n/p γ) between m nodes of q ranks",
     rank_order::not_kept, reading_reduce_scatter_cost,
     [](const arguments& of, sink& to) { reading_reduce_scatter(nodes_of(of), of.rank, of.by, to); }},
    shared<collective::reduce_scatter, memory_pattern::at_once>("at-once", takes::segments, graham,
                                                                "α + (p - 1) n/p (β + γ)", shared_exchange_cost),
    shared<collective::reduce_scatter, memory_pattern::in_parts>("in-parts", takes::segments, graham,
                                                                 "s α + (p - 1) n/p (β + γ)", in_parts_cost),
    shared<collective::reduce_scatter, memory_pattern::single_copy>("single-copy", takes::segments, chakraborty,
                                                                    "2 α + (p - 1) n/p (β + γ)", told_exchange_cost),
    served<collective::reduce_scatter, memory_pattern::served>(),
    served<collective::reduce_scatter, memory_pattern::served_shown>(),
    staged<collective::reduce_scatter>(
        "2 α' + (q - 1 + 1/q) n β' + (q - 1) n γ' of a node of q ranks, and the fastest between the nodes"),

    {collective::allgather, "ring", piped_shares | takes::order, patarasuk, "(p - 1) (α + n/p β)", rank_order::kept,
     copied<ring_cost>, [](const arguments& of, sink& to) { ring_allgather(ring_of(of), of.rank, to); }},
    {collective::allgather, "bruck", cut_shares, bruck,
     "ceil(log_r p) (α + (r - 2) g) + (p - 1)/p n β for degree r, gap g", rank_order::kept, copied<halving_cost>,
     [](const arguments& of, sink& to) { bruck_allgather(of.ranks, of.rank, of.degree, of.by, to); }},
    {collective::allgather, "local-bruck", takes::window | takes::groups, bienz,
     "ceil(log_(q+1) g) α + (g - 1)/g n/q β between g groups of q ranks, and an all-gather in a group before and after "
     "each round",
     rank_order::kept, copied<local_bruck_cost>,
     [](const arguments& of, sink& to) { local_bruck_allgather(groups_of(of), of.rank, of.by, to); }},
    {collective::allgather, "reading", takes::window | takes::nodes, chakraborty,
     "2 α' + (q - 1)/p n β' of a node, (p - q) (α + n/p β) between nodes of q ranks", rank_order::kept,
     copied<reading_exchange_cost>,
     [](const arguments& of, sink& to) { reading_allgather(nodes_of(of), of.rank, of.by, to); }},
    shared<collective::allgather, memory_pattern::at_once>("at-once", takes::segments, graham, "s α + (p - 1)/p n β",
                                                           copied<in_parts_cost>),
    shared<collective::allgather, memory_pattern::single_copy>("single-copy", takes::segments, chakraborty,
                                                               "2 α + (p - 1)/p n β", copied<told_exchange_cost>),
    served<collective::allgather, memory_pattern::served>(),
    served<collective::allgather, memory_pattern::served_shown>(),
    staged<collective::allgather>("2 α' + 2 n β' of a node, and the fastest between the nodes"),

    {collective::barrier, "dissemination", 0, "Hensgen, Finkel and Manber 1988", "ceil(log2 p) α", rank_order::kept,
     rounds_cost, [](const arguments& of, sink& to) { dissemination_barrier(of.ranks, of.rank, to); }},
    {collective::barrier, "tree", 0, folklore, "2 ceil(log2 p) α", rank_order::kept,
     [](const arguments& of, double, const path_costs& each) { return binomial_allreduce_cost(of, 0, each); },
     [](const arguments& of, sink& to) { tree_barrier(binomial_position(of.ranks, 0, of.rank), to); }},
    shared<collective::barrier, memory_pattern::at_once>("at-once", 0, graham, "α", one_round_cost),
    shared<collective::barrier, memory_pattern::through_first>(
        "through-first", 0, folklore, "2 α",
        [](const arguments& of, double bytes, const path_costs& each) { return 2 * one_round_cost(of, bytes, each); }),
    shared<collective::barrier, memory_pattern::in_groups>(
        "in-groups", takes::groups, graham, "2 α",
        [](const arguments& of, double bytes, const path_costs& each) { return 2 * one_round_cost(of, bytes, each); }),
    served<collective::barrier, memory_pattern::served_shown>(),
    staged<collective::barrier>("2 α' of a node, and the fastest between the nodes"),

    {collective::gather, "binomial", takes::root | takes::window, heimlich, "ceil(log2 p) α + (p - 1)/p n β",
     rank_order::kept, copied<spread_cost>,
     [](const arguments& of, sink& to) { binomial_gather(of.ranks, of.root, of.rank, of.by, to); }},
    {collective::gather, "linear", takes::root | takes::window, folklore, "(p - 1) (α + n/p β)", rank_order::kept,
     copied<linear_cost>, [](const arguments& of, sink& to) { linear_gather(of.ranks, of.root, of.rank, of.by, to); }},
    shared<collective::gather, memory_pattern::at_once>("at-once", takes::root | takes::segments, graham,
                                                        "s α + (p - 1)/p n β", copied<in_parts_cost>),
    shared<collective::gather, memory_pattern::single_copy>("single-copy", takes::root | takes::segments, chakraborty,
                                                            "2 α + (p - 1)/p n β", copied<told_exchange_cost>),
    served<collective::gather, memory_pattern::served>(),
    served<collective::gather, memory_pattern::served_shown>(),

    {collective::scatter, "binomial", takes::root, heimlich, "ceil(log2 p) α + (p - 1)/p n β", rank_order::kept,
     copied<spread_cost>, [](const arguments& of, sink& to) { binomial_scatter(of.ranks, of.root, of.rank, to); }},
    {collective::scatter, "linear", takes::root, folklore, "(p - 1) (α + n/p β)", rank_order::kept, copied<linear_cost>,
     [](const arguments& of, sink& to) { linear_scatter(of.ranks, of.root, of.rank, to); }},
    shared<collective::scatter, memory_pattern::at_once>("at-once", takes::root | takes::segments, graham, "s α + n β",
                                                         copied<one_reads_cost>),
    shared<collective::scatter, memory_pattern::single_copy>("single-copy", takes::root | takes::segments, chakraborty,
                                                             "2 α + n/p β", copied<one_reads_share_cost>),
    served<collective::scatter, memory_pattern::served>(),
    served<collective::scatter, memory_pattern::served_shown>(),

    {collective::alltoall, "pairwise", takes::window, thakur, "(p - 1) (α + n/p β)", rank_order::kept,
     copied<pairwise_cost>, [](const arguments& of, sink& to) { pairwise_alltoall(of.ranks, of.rank, of.by, to); }},
    {collective::alltoall, "bruck", takes::degree, bruck,
     "(r - 1) ceil(log_r p) α + (r - 1)/r ceil(log_r p) n β for degree r", rank_order::kept,
     copied<bruck_alltoall_cost>,
     [](const arguments& of, sink& to) { bruck_alltoall(of.ranks, of.rank, of.degree, to); }},
    {collective::alltoall, "reading", takes::window | takes::nodes, chakraborty,
     "2 α' + (q - 1)/p n β' of a node, (p - q) (α + n/p β) between nodes of q ranks", rank_order::kept,
     copied<reading_exchange_cost>,
     [](const arguments& of, sink& to) { reading_alltoall(nodes_of(of), of.rank, of.by, to); }},
    shared<collective::alltoall, memory_pattern::in_parts>("in-parts", takes::segments, graham, "s α + (p - 1)/p n β",
                                                           copied<in_parts_cost>),
    shared<collective::alltoall, memory_pattern::single_copy>("single-copy", takes::segments, chakraborty,
                                                              "2 α + (p - 1)/p n β", copied<told_exchange_cost>),
    served<collective::alltoall, memory_pattern::served>(),
    served<collective::alltoall, memory_pattern::served_shown>(),
    staged<collective::alltoall>("2 (α' + q n β') of a node of q ranks, and the fastest between the nodes"),

    {collective::scan, "recursive-doubling", 0, hillis, "ceil(log2 p) (α + n β + n γ)", rank_order::kept,
     doubling_scan_cost, [](const arguments& of, sink& to) { recursive_doubling_scan(of.ranks, of.rank, to); }},
    {collective::scan, "chain", piped, folklore, "(p + s - 2) (α + n/s β + n/s γ)", rank_order::kept, chain_cost,
     [](const arguments& of, sink& to) { chain_scan(of.ranks, of.rank, of.by, to); }},
    shared<collective::scan, memory_pattern::at_once>("at-once", 0, graham, "α + (p - 1) n (β + γ)", at_once_cost),
    shared<collective::scan, memory_pattern::pipelined>("pipelined", takes::segments, graham,
                                                        "(p + s - 2) (α + n/s β + n/s γ)", pipelined_cost),
    served<collective::scan, memory_pattern::served>(),
    served<collective::scan, memory_pattern::served_shown>(),
    staged<collective::scan>(
        "2 (α' + (q - 1) n (β' + γ')) of a node of q ranks, and the fastest exclusive one between the nodes"),

    {collective::exscan, "recursive-doubling", 0, hillis, "ceil(log2 p) (α + n β + 2 n γ)", rank_order::kept,
     doubling_exscan_cost, [](const arguments& of, sink& to) { recursive_doubling_exscan(of.ranks, of.rank, to); }},
    {collective::exscan, "chain", piped, folklore, "(p + s - 2) (α + n/s β + n/s γ)", rank_order::kept,
     chain_exscan_cost, [](const arguments& of, sink& to) { chain_exscan(of.ranks, of.rank, of.by, to); }},
    shared<collective::exscan, memory_pattern::at_once>("at-once", 0, graham, "α + (p - 1) n (β + γ)", at_once_cost),
    shared<collective::exscan, memory_pattern::pipelined>("pipelined", takes::segments, graham,
                                                          "(p + s - 2) (α + n/s β + n/s γ)", pipelined_cost),
    served<collective::exscan, memory_pattern::served>(),
    served<collective::exscan, memory_pattern::served_shown>(),
    staged<collective::exscan>("2 (α' + (q - 1) n (β' + γ')) of a node of q ranks, and the fastest between the nodes"),
};

std::span<const algorithm> rows_of(collective kind) {
  const auto is_one = [kind](const algorithm& a) { return a.kind == kind; };
  const auto* const first = std::find_if(std::begin(table), std::end(table), is_one);
  return {first, std::find_if_not(first, std::end(table), is_one)};
}

}  // namespace

std::span<const algorithm> algorithms() { return table; }

std::span<const algorithm> algorithms_of(collective kind) {
  static const auto by_kind = [] {
    std::array<std::span<const algorithm>, collectives> all;
    for (std::size_t i = 0; i < collectives; ++i) all[i] = rows_of(static_cast<collective>(i));
    return all;
  }();
  return by_kind[static_cast<std::size_t>(kind)];
}

const algorithm* find_algorithm(collective kind, std::string_view name) {
  const auto some = algorithms_of(kind);
  const auto found = std::find_if(some.begin(), some.end(), [&](const algorithm& a) { return a.name == name; });
  return found == some.end() ? nullptr : &*found;
}

}  // namespace weft::schedules

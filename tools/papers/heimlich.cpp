// SPDX-License-Identifier: Apache-2.0
// M. Heimlich, "On Optimizing Collective Communication", The University of Texas at Austin, 2003.
#include <algorithm>
#include <cmath>
#include <weft/pages/page.hpp>

#include "machine.hpp"
#include "paper.hpp"

namespace weft::tools {
namespace {

using schedules::collective;

/// Whether a message waits for a handshake: a request, a grant, then the data, each of which takes L; or its receive
/// has been granted ahead, which leaves the data.
enum class receives : std::uint8_t { posted_in_turn, posted_ahead };

simulator::machine_model with_receives(simulator::machine_model model, receives how, std::uint64_t eager_limit = 0) {
  model.eager_limit = eager_limit;
  model.preposted = how == receives::posted_ahead;
  return model;
}

double reduce_scatter(std::string_view algorithm, int ranks, std::size_t bytes, const simulator::machine_model& model) {
  schedules::algorithm_arguments shape;
  shape.ranks = ranks;
  return completion(collective::reduce_scatter, algorithm, shape, bytes, model);
}

/// The model of section 2: α to start a message, β a byte, γ to combine one.
simulator::machine_model linear_model(double alpha, double beta, double gamma) {
  simulator::machine_model model;
  model.latency = alpha;
  model.gap_per_byte = beta;
  model.compute_per_byte = gamma;
  return model;
}

/// Section 4.3, of powers of two.
double short_vector_cost(int ranks, double bytes, double alpha, double beta, double gamma) {
  const double rounds = std::log2(ranks), others = (ranks - 1.0) / ranks;
  return 2 * rounds * alpha + (rounds + others) * bytes * beta + rounds * bytes * gamma;
}
double long_vector_cost(int ranks, double bytes, double alpha, double beta, double gamma) {
  return (ranks - 1) * alpha + (ranks - 1.0) / ranks * bytes * (beta + gamma);
}

void add_formulas(paper_results& to) {
  constexpr double light = 10, beta = 0.004, gamma = 0.001;
  constexpr std::size_t bytes = 64 << 10;
  const simulator::machine_model model = linear_model(light, beta, gamma);
  for (const int ranks : {32, 128})
    for (const auto& [how, alpha, named, place] :
         {std::tuple(receives::posted_in_turn, 3 * light, "handshakes", "section 4.3"),
          std::tuple(receives::posted_ahead, light, "receives posted ahead", "section 4.4")}) {
      const std::string of = " of 64 KiB, " + std::to_string(ranks) + " nodes, " + named + ", in µs";
      to.numbers.push_back({"short-vector (MST) reduce-scatter" + of, place,
                            short_vector_cost(ranks, bytes, alpha, beta, gamma),
                            reduce_scatter("mst", ranks, bytes, with_receives(model, how))});
      to.numbers.push_back({"long-vector (bucket) reduce-scatter" + of, place,
                            long_vector_cost(ranks, bytes, alpha, beta, gamma),
                            reduce_scatter("ring", ranks, bytes, with_receives(model, how))});
    }
  constexpr int ranks = 32;
  schedules::algorithm_arguments shape;
  shape.ranks = ranks;
  to.numbers.push_back(
      {"MST scatter of 64 KiB, 32 nodes, in µs", "section 4.1, as printed",
       std::log2(ranks) * (light + (ranks - 1.0) / ranks * bytes * beta),
       completion(collective::scatter, "binomial", shape, bytes, with_receives(model, receives::posted_ahead)),
       "the factor log2(p) is of α alone, as in the paper's next formula: each step sends half"});
}

/// One way takes L + 2 o = 8 µs, a byte 4 ns: Myrinet 2000's 2 Gbit/s.
simulator::machine_model myrinet() {
  simulator::machine_model model = linear_model(4, 0.004, 0.0005);
  model.overhead = 2;
  return model;
}

void add_handshakes(paper_results& to) {
  constexpr int ranks = 128;
  const auto gain = [](const simulator::machine_model& model) {
    return reduce_scatter("ring", ranks, ranks, with_receives(model, receives::posted_in_turn)) /
           reduce_scatter("ring", ranks, ranks, with_receives(model, receives::posted_ahead));
  };
  to.numbers.push_back({"handshakes of a send over those with its receive posted ahead, by what they take",
                        "section 4.4: 3 v to v", 3, gain(linear_model(10, 0, 0))});
  to.numbers.push_back({"bucket over optimized bucket, very short vectors, 128 nodes", "section 5.2, Figure 7", 2,
                        gain(myrinet()),
                        "2 because o = L/2 is assumed: what the CPUs do for a message no posting saves"});
}

/// The lines of figures 2 to 7.
struct curves {
  int ranks = 1;
  chart_line mpi{"MST, handshakes", {}}, bucket{"bucket, handshakes", {}}, eager{"bucket, handshakes above 316 B", {}},
      optimized{"bucket, optimized", {}}, short_optimized{"MST, optimized", {}}, bounce{"one message (send-min)", {}};
};

/// Messages above this are not eager: 10^2.5.
constexpr std::uint64_t first_jump = 316;

curves curves_of(int ranks) {
  curves all;
  all.ranks = ranks;
  const simulator::machine_model ahead = with_receives(myrinet(), receives::posted_ahead);
  const simulator::machine_model in_turn = with_receives(myrinet(), receives::posted_in_turn);
  const simulator::machine_model eager = with_receives(myrinet(), receives::posted_in_turn, first_jump);
  for (const std::size_t message : doubled(1, 1 << 17)) {
    const std::size_t bytes = message * static_cast<std::size_t>(ranks);
    const auto add = [&](chart_line& to, std::string_view algorithm, const simulator::machine_model& model) {
      to.points.emplace_back(static_cast<double>(message), reduce_scatter(algorithm, ranks, bytes, model));
    };
    add(all.mpi, "mst", in_turn);
    add(all.bucket, "ring", in_turn);
    add(all.eager, "ring", eager);
    add(all.optimized, "ring", ahead);
    add(all.short_optimized, "mst", ahead);
    schedules::algorithm_arguments pair;
    pair.ranks = 2;
    all.bounce.points.emplace_back(static_cast<double>(message),
                                   completion(collective::broadcast, "binomial", pair, bytes, in_turn));
  }
  return all;
}

/// How many times as long the one takes, at the `size`-th message.
double times_as_long(const chart_line& one, const chart_line& other, std::size_t size) {
  return one.points[size].second / other.points[size].second;
}

/// A claim of the curves of every number of nodes: `seen` returns whether it holds there, and figures.
template <class Seen>
checked_claim over_nodes(const char* what, const char* place, const std::vector<curves>& all, Seen&& seen,
                         const char* cause = "") {
  checked_claim claim{what, place, true, "", ""};
  for (const curves& each : all) {
    const auto [holds, figures] = seen(each);
    claim.holds = claim.holds && holds;
    claim.figures += (claim.figures.empty() ? "" : "; ") + std::to_string(each.ranks) + " nodes: " + figures;
  }
  if (!claim.holds) claim.cause = cause;
  return claim;
}

void add_claims_of_curves(paper_results& to, const std::vector<curves>& all) {
  const auto figures = [](double ratio) { return short_number(ratio); };
  const std::size_t last = all.front().bucket.points.size() - 1;
  constexpr std::size_t below = 8, above = 9;  // 256 and 512 B
  to.claims.push_back(over_nodes("both buckets take the same in the limit", "section 5.2", all, [&](const curves& of) {
    const double ratio = times_as_long(of.bucket, of.optimized, last);
    return std::pair(ratio < 1.05, figures(ratio) + " times, messages of 128 KiB");
  }));
  to.claims.push_back(over_nodes("the optimized bucket more than doubles the performance of a library's reduce-scatter",
                                 "section 1", all, [&](const curves& of) {
                                   double best = 0;
                                   for (std::size_t size = 0; size <= last; ++size)
                                     best = std::max(best, times_as_long(of.mpi, of.optimized, size));
                                   return std::pair(best > 2, "up to " + figures(best) + " times");
                                 }));
  to.claims.push_back(over_nodes("MST is better for short vectors, the bucket for long ones", "section 4.3", all,
                                 [&](const curves& of) {
                                   const double shortest = times_as_long(of.short_optimized, of.optimized, 0);
                                   const double longest = times_as_long(of.short_optimized, of.optimized, last);
                                   return std::pair(shortest < 1 && longest > 1, "MST takes " + figures(shortest) +
                                                                                     " times the bucket's time for "
                                                                                     "messages of 1 B, " +
                                                                                     figures(longest) + " for 128 KiB");
                                 }));
  to.claims.push_back(over_nodes(
      "where short messages are eager the unoptimized bucket jumps at 10^2.5, the other does not",
      "section 5.2, Figure 7", all, [&](const curves& of) {
        const double before = times_as_long(of.eager, of.optimized, below);
        const double after = times_as_long(of.eager, of.optimized, above);
        return std::pair(after > 1.2 * before, figures(before) + " times at 256 B, " + figures(after) + " at 512 B");
      }));
  to.claims.push_back(over_nodes(
      "before the jump, too, the optimized bucket is twice as fast", "section 5.2, Figure 7", all,
      [&](const curves& of) {
        const double before = times_as_long(of.eager, of.optimized, below);
        return std::pair(before > 1.8, figures(before) + " times at 256 B");
      },
      "an eager message costs no handshake here; that library's cost as much as the handshakes that posting saves"));
}

}  // namespace

paper_results heimlich() {
  paper_results all{
      "heimlich",
      "M. Heimlich, On Optimizing Collective Communication, The University of Texas at Austin, 2003",
      "Simulated: a message without a posted receive is a request, a grant and the data, each L; with one "
      "the data alone. The library posts a collective's receives ahead unless told not to; measured on "
      "real messages in collectives/ALGORITHMS.md, \"Posting receives in advance\". Assumed: L = 4 µs, "
      "o = 2 µs, G = 4 ns a byte (Myrinet 2000), 0.5 ns to combine one. MST with handshakes, a reduction "
      "and a scatter, stands for MPICH. The figures are printed without numbers.",
      {},
      {},
      {}};
  add_formulas(all);
  add_handshakes(all);
  std::vector<curves> measured;
  for (const int ranks : {128, 64, 32}) measured.push_back(curves_of(ranks));
  add_claims_of_curves(all, measured);
  int number = 2;
  for (const curves& of : measured) {
    const std::string nodes = std::to_string(of.ranks);
    all.figures.push_back({"heimlich-" + nodes,
                           "Figures " + std::to_string(number) + " and " + std::to_string(number + 1) +
                               ": reduce-scatter on " + nodes + " nodes, simulated.",
                           {"reduce-scatter on " + nodes + " nodes",
                            {"message in bytes: the vector over the nodes", scale::decimal},
                            {"time in µs", scale::decimal},
                            {of.bounce, of.mpi, of.bucket, of.eager, of.optimized, of.short_optimized}},
                           {}});
    number += 2;
  }
  return all;
}

}  // namespace weft::tools

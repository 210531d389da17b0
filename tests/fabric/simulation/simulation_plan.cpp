// SPDX-License-Identifier: Apache-2.0
#include "fabric/simulation/simulation_plan.hpp"

#include <algorithm>

namespace weft_test {

namespace {

using sizes_of = std::vector<std::size_t>;

}  // namespace

simulation_plan::simulation_plan(std::uint64_t seed) {
  draws random(seed, 0);
  const std::size_t kind = random.below(std::size_t{100});
  processes = kind < 70 ? 2 + random.below(3) : kind < 92 ? 5 + random.below(4) : kind < 99 ? 9 + random.below(8) : 64;
  if (processes == 64) processes = 17 + random.below(48);
  ranks_each = processes > 8 || random.one_in(2) ? 1 : 1 + random.below(4);
  draw_limits(random);
  draw_sizes(random);
  draw_steps(random);
  draw_faults(random);
}

void simulation_plan::draw_limits(draws& random) {
  settings.eager_limit = random.of(sizes_of{64, 300, 4096});
  settings.credit = random.of(sizes_of{1, 4096, 65536});
  settings.unexpected_limit = random.of(sizes_of{0, 3000, 100000});
  settings.send_buffer_limit = random.of(sizes_of{0, 2000, 100000});
  settings.piece = random.of(sizes_of{100, 1000, 65536});
  settings.window = random.of(sizes_of{1, 3000, 1 << 20});
  settings.prepost = !random.one_in(5);
  network.queue = random.of(sizes_of{1, 4, 256});
  network.inject = random.of(sizes_of{64, 128, 4096});
  network.receives = random.of(sizes_of{1, 5, 20, SIZE_MAX});
  if (!random.one_in(8)) network.jitter_seed = random.next() | 1;
}

void simulation_plan::draw_sizes(draws& random) {
  const std::size_t limit = settings.eager_limit, piece = std::min<std::size_t>(settings.piece, 3000);
  sizes = {0, 1, 8, 9, 64, 65, limit - 1, limit, limit + 1, piece, piece + 1, 2 * piece, 2 * piece + 1, 3 * piece + 5};
  for (int i = 0; i < 4; ++i) sizes.push_back(random.below(std::size_t{3000}));
  longest = *std::max_element(sizes.begin(), sizes.end());
}

void simulation_plan::draw_steps(draws& random) {
  const int count = ranks() > 20 ? 2 + random.below(4) : 4 + random.below(24);
  const bool revokes = random.one_in(6), waits_in_vain = random.one_in(5);
  std::vector<int> usable{0};
  for (int i = 0; i < count; ++i) {
    plan_step step;
    step.on = random.of(usable);
    step.seed = random.next();
    const std::size_t kind = random.below(std::size_t{100});
    const auto closed = [&] { std::erase(usable, step.on); };
    if (kind < 35) {
      step.what = plan_step::messages;
    } else if (kind < 45) {
      step.what = plan_step::probes;
    } else if (kind < 65) {
      step.what = plan_step::collective;
    } else if (kind < 77) {
      step.what = plan_step::divide;
    } else if (kind < 85) {
      step.what = plan_step::agree;
    } else if (kind < 91) {
      step.what = plan_step::shrink;
    } else if (kind < 94 && revokes) {
      step.what = plan_step::revoke;
    } else if (usable.size() > 1 && step.on != 0) {
      closed();
      if (waits_in_vain && random.one_in(2))
        steps.push_back({plan_step::vain, step.on, -1, false, false, random.next()});
      step.what = plan_step::leave;
    } else {
      step.what = plan_step::collective;
    }
    if (step.what == plan_step::divide || step.what == plan_step::shrink) {
      step.makes = made_++;
      usable.push_back(step.makes);
    }
    // A later message must not come to a receive of anybody's: its own then waits for one that nobody sends yet.
    step.of_anybody = (step.what == plan_step::messages || step.what == plan_step::probes) && random.one_in(4);
    steps.push_back(step);
    if (!step.of_anybody) continue;
    steps.push_back({plan_step::collective, step.on, -1, false, true, random.next()});
  }
  if (waits_in_vain && random.one_in(2))
    steps.push_back({plan_step::vain, random.of(usable), -1, false, false, random.next()});
}

void simulation_plan::draw_faults(draws& random) {
  const std::size_t posts = steps.size() * static_cast<std::size_t>(ranks()) * 4 + 1;
  const auto some = [&](std::vector<std::size_t>& of, int most) {
    for (int i = 0; i < most; ++i) of.push_back(random.below(posts));
    std::ranges::sort(of);
  };
  const std::size_t kind = random.below(std::size_t{10});
  if (kind < 5) some(deaths, 1 + random.below(std::min(processes - 1, kind < 3 ? 1 : 4)));
  if (kind == 5 || kind == 4) some(false_losses, 1 + random.below(std::min(processes - 1, 2)));
  ranks_throw = random.one_in(5);
  dies_in_agreements = kind < 3 && random.one_in(2);
  if (kind == 6 || random.one_in(30)) {
    memory_fails_at = static_cast<std::int64_t>(random.below(std::size_t{400}));
    memory_failures = random.one_in(2) ? 1 : 1 + random.below(30);
    short_process = random.below(processes);
  }
}

namespace {

void add_random(std::vector<planned_transfer>& all, draws& random, int size, int most, bool to_oneself) {
  const int count = 1 + random.below(most);
  for (int i = 0; i < count; ++i) {
    planned_transfer one;
    one.from = random.below(size);
    one.to = random.below(size);
    if (one.from == one.to && !to_oneself) continue;
    all.push_back(one);
  }
}

void add_dissemination(std::vector<planned_transfer>& all, int size) {
  std::size_t round = 0;
  for (int distance = 1; distance < size; distance *= 2, ++round)
    for (int i = 0; i < size; ++i) all.push_back({i, (i + distance) % size, 0, 0, round});
}

void add_tree(std::vector<planned_transfer>& all, int size, int root, bool upwards) {
  for (int i = 1; i < size; ++i) {
    const int child = (i + root) % size, parent = ((i - 1) / 2 + root) % size;
    if (upwards)
      all.push_back({child, parent, 0, 0, static_cast<std::size_t>(size - i)});
    else
      all.push_back({parent, child, 0, 0, static_cast<std::size_t>(i)});
  }
}

}  // namespace

std::vector<planned_transfer> transfers_of(const simulation_plan& plan, std::size_t number, int size) {
  const plan_step& step = plan.steps[number];
  draws random(step.seed, static_cast<std::uint64_t>(size));
  std::vector<planned_transfer> all;
  const int most = plan.ranks() > 20 ? size : 3 * size + 4;
  switch (step.what) {
    case plan_step::messages:
    case plan_step::probes:
      add_random(all, random, size, most, true);
      break;
    case plan_step::divide:
      add_dissemination(all, size);
      break;
    case plan_step::collective:
      switch (step.barrier ? 0 : random.below(4)) {
        case 0:
          add_dissemination(all, size);
          break;
        case 1:
          add_tree(all, size, random.below(size), random.one_in(2));
          break;
        case 2:
          for (int i = 0; i < size && size > 1; ++i) all.push_back({i, (i + 1) % size, 0, 0, 0});
          break;
        default:
          add_random(all, random, size, most, false);
          for (planned_transfer& each : all) each.round = random.below(std::size_t{3});
      }
      break;
    default:
      break;
  }
  const std::size_t common = random.of(plan.sizes);
  const bool all_alike = random.one_in(3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].bytes = all_alike ? common : random.of(plan.sizes);
    const bool is_message = step.what == plan_step::messages || step.what == plan_step::probes;
    all[i].tag = !is_message        ? i
                 : all[i].bytes < 8 ? own_tags + number * 1000 + i
                                    : number * 4 + random.below(std::size_t{4});
  }
  return all;
}

std::vector<int> chosen_of(const plan_step& step, int size) {
  draws random(step.seed, static_cast<std::uint64_t>(size));
  std::vector<int> all;
  const bool everybody = random.one_in(3);
  for (int i = 0; i < size; ++i)
    if (everybody || !random.one_in(3)) all.push_back(i);
  if (all.empty()) all.push_back(random.below(size));
  if (random.one_in(2)) random.shuffle(all);
  return all;
}

}  // namespace weft_test

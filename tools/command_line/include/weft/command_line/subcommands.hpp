// SPDX-License-Identifier: Apache-2.0
// The subcommands of `weft`. Each is defined in the folder of its name; `weft agent`, which `weft run` starts on each
// host of a job and no help mentions, in agents/; `weft doctor-peer`, likewise, in doctor/; `weft manual` is for the
// build.
#pragma once

namespace CLI {
class App;
}

namespace weft::tools {

// Each adds one to `weft`. When it is called it leaves the exit status in `status`; the others throw or succeed.
// `bench` and `tune` start a job of themselves, and called as a process of a job are one of its ranks.
void add_run(CLI::App& weft, int& status);
void add_agent(CLI::App& weft, int& status);
void add_bench(CLI::App& weft, int& status);
void add_manual(CLI::App& weft);
void add_info(CLI::App& weft, int& status);
void add_papers(CLI::App& weft);
void add_plan(CLI::App& weft, int& status);
void add_ps(CLI::App& weft);
void add_report(CLI::App& weft, int& status);
void add_sim(CLI::App& weft);
void add_noise(CLI::App& weft);
void add_tune(CLI::App& weft, int& status);
void add_doctor(CLI::App& weft, int& status);

}  // namespace weft::tools

// SPDX-License-Identifier: Apache-2.0
// What the rank program does, by the name in its first argument. Each gets the arguments behind that, and returns the
// process's exit status.
#pragma once

#include <string>
#include <vector>

namespace weft_test {

using words = std::vector<std::string>;

int survive(int argc, char** argv);
int beset(int argc, char** argv);
int abuse(int argc, char** argv);
int exchange(int argc, char** argv);
int calls(int argc, char** argv);
int compute(int argc, char** argv);
int give_up(int argc, char** argv);
int hold(int argc, char** argv);
int move_much(int argc, char** argv);
int away(int argc, char** argv);
int meet(int argc, char** argv);
int persist(int argc, char** argv);
int near(int argc, char** argv);
int line(int argc, char** argv);
int notice(int argc, char** argv);
int whole_api(int argc, char** argv);
int soak(int argc, char** argv);
int unread(int argc, char** argv);
int windows(int argc, char** argv);

}  // namespace weft_test

// SPDX-License-Identifier: Apache-2.0
#include "jobs.hpp"

int main(int argc, char** argv) { return weft_test::whole_api(argc, argv); }

// SPDX-License-Identifier: Apache-2.0
// A string that is to be stored among the words of long strings.
#pragma once

#include <cstdint>

namespace millrace {

struct StringMove {
  uint64_t source;      // the address of its bytes, or the number of its first word
  uint64_t chunks;      // 0, or uint64 per chunk of the words with that word: its address
  uint64_t tail;        // address of the uint64 that gets its place
  uint64_t other_tail;  // of another one, or 0
  int32_t length;       // 0: there is no string to move
  int32_t padding;
};

}  // namespace millrace

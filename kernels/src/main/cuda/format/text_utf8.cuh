// SPDX-License-Identifier: Apache-2.0
// Text in UTF-8.
#pragma once

#include "text_cursor.cuh"

namespace millrace {

// Takes a code point that is not ASCII, in the only form that it has in UTF-8.
static __device__ inline bool skip_utf8(TextCursor& text) {
  const int32_t first = text.next();
  const int32_t more = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
  if (more == 0) return false;
  const int32_t second = text.next();
  const int32_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const int32_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return false;
  for (int32_t i = 1; i < more; ++i) {
    if ((text.next() & ~0x3f) != 0x80) return false;
  }
  return true;
}

// Goes to the end if there is nothing but UTF-8; else to the first byte of what is not.
static __device__ inline bool skip_text(TextCursor& text) {
  while (text.at < text.end) {
    const uint64_t others = text.word_at(text.at) & NOT_ASCII & ~uint64_t{0} << (text.at % WORD_BYTES * 8);
    text.at = text.at / WORD_BYTES * WORD_BYTES + (others == 0 ? WORD_BYTES : bytes_below(others));
    const int32_t start = text.at;
    if (others == 0 || start >= text.end || skip_utf8(text)) continue;
    text.at = start;
    return false;
  }
  return true;
}

}  // namespace millrace

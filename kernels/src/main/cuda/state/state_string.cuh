// SPDX-License-Identifier: Apache-2.0
// Strings in keys: two words, the head and the tail, and the words of a long string apart.
//
//   head   the length in the low half, the first 4 bytes in the high half
//   tail   bytes 4 to 11 of a string of up to 12 bytes; else the number of its first word among the words of long strings
//
// A long string has all its bytes there, and zeros up to a whole word: equal words are equal strings.
#pragma once

#include "common/bytes.cuh"
#include "common/element.cuh"
#include "state_arguments.cuh"

namespace millrace {

// Kernels for keys of fixed width are compiled without what strings need.
#if defined(MILLRACE_STRING_KEYS)
constexpr bool STRING_KEYS = true;
#else
constexpr bool STRING_KEYS = false;
#endif

constexpr int32_t INLINE_BYTES = 12;
constexpr int32_t PREFIX_BYTES = 4;
constexpr int STRING_CHUNK_SHIFT = 19;  // the binary logarithm of the words of a chunk

// A string in a column, at an address; or a long string of a state, by the number of its first word.
struct KeyString {
  uint64_t address;
  int32_t length;
  uint64_t chunks;  // 0, or uint64 per chunk of the state's words: its address
};

// A word of the long strings of the state. A string may lie in several chunks.
MILLRACE_FUNCTION uint64_t* stored_word(uint64_t strings, int64_t position) {
  const uint64_t chunk = element_of<uint64_t>(strings, position >> STRING_CHUNK_SHIFT);
  const int64_t in_chunk = position & ((int64_t{1} << STRING_CHUNK_SHIFT) - 1);
  return reinterpret_cast<uint64_t*>(chunk) + in_chunk;
}

template <typename Source>
MILLRACE_FUNCTION bool is_null_in(const Source& source, int64_t row) {
  return source.validity != 0 && !bit_of(source.validity, source.row_offset + row);
}

MILLRACE_FUNCTION bool is_string(const KeyWord& word) { return STRING_KEYS && word.type >= WORD_STRING_HEAD; }

MILLRACE_FUNCTION bool is_tail(const KeyWord& word) { return STRING_KEYS && word.type >= WORD_STRING_TAIL; }

// The string of a tail. A short string of a state has only its length here.
MILLRACE_FUNCTION KeyString string_of_key(const KeyWord& word, int64_t row) {
  if (is_null_in(word, row)) return {0, 0, 0};
  if (word.type == WORD_STORED_TAIL) {
    const uint64_t* tail = reinterpret_cast<const uint64_t*>(word.data + row * word.stride);
    return {tail[0], static_cast<int32_t>(tail[-1]), word.offsets};
  }
  const int32_t begin = element_of<int32_t>(word.offsets, row);
  return {word.data + static_cast<uint64_t>(begin), element_of<int32_t>(word.offsets, row + 1) - begin, 0};
}

MILLRACE_FUNCTION uint64_t bytes_of_string(const KeyString& string, int32_t begin, int32_t most) {
  const int32_t left = string.length - begin;
  return load_bytes<ConstantMemory>(reinterpret_cast<const void*>(string.address + begin), left < most ? left : most);
}

// Words of a long string, 0 of a short one.
MILLRACE_FUNCTION int32_t words_of_string(const KeyString& string) {
  return string.length <= INLINE_BYTES ? 0 : (string.length >> 3) + ((string.length & 7) != 0 ? 1 : 0);
}

MILLRACE_FUNCTION uint64_t word_of_string(const KeyString& string, int32_t number) {
  if (string.chunks != 0) return *stored_word(string.chunks, static_cast<int64_t>(string.address) + number);
  return bytes_of_string(string, number * 8, 8);
}

// The head or the tail of a string that is not null; 0 for the tail of a long string, whose place is not known here.
MILLRACE_FUNCTION uint64_t word_of_string_key(const KeyWord& word, int64_t row) {
  const KeyString string = string_of_key(word, row);
  if (word.type == WORD_STRING_HEAD) {
    return static_cast<uint32_t>(string.length) | bytes_of_string(string, 0, PREFIX_BYTES) << 32;
  }
  if (string.length > INLINE_BYTES) return 0;
  if (word.type == WORD_STORED_TAIL) return *reinterpret_cast<const uint64_t*>(word.data + row * word.stride);
  return bytes_of_string(string, PREFIX_BYTES, INLINE_BYTES - PREFIX_BYTES);
}

}  // namespace millrace

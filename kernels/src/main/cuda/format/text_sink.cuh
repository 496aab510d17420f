// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a record go: they are counted, or written by aligned words of eight bytes.
#pragma once

#include <cstdint>

#include "common/bytes.cuh"
#include "text_cursor.cuh"

namespace millrace {

// What becomes of bytes within a field of CSV.
enum FieldPass : int32_t {
  FIELD_PLAIN,    // they are put as they are, as outside of fields
  FIELD_MEASURE,  // they are counted, to see whether the field needs quotes
  FIELD_QUOTED,   // quotes are doubled
};

static __device__ __forceinline__ uint64_t lowest_bytes(int32_t count) {
  return count >= 8 ? ~uint64_t{0} : (uint64_t{1} << (count * 8)) - 1;
}

template <bool IS_WRITING>
struct TextSink {
  int64_t bytes;     // that were put
  uint64_t address;  // of `word`
  uint64_t word;
  int32_t filled;    // bytes of `word`
  int32_t others;    // bytes of `word` that are of the record before
  int32_t delimiter;
  FieldPass pass;
  int64_t field_bytes;
  int64_t field_quotes;
  bool is_special;   // whether the field has a byte that needs quotes

  static __device__ __forceinline__ TextSink at(uint64_t start, int32_t delimiter) {
    const int32_t skew = static_cast<int32_t>(start % WORD_BYTES);
    return {0, start - skew, 0, skew, skew, delimiter, FIELD_PLAIN, 0, 0, false};
  }

  // Puts up to eight bytes, the first one lowest; those above do not matter.
  __device__ __forceinline__ void put(uint64_t value, int32_t count) {
    if (pass == FIELD_PLAIN) {
      append(value, count);
    } else {
      *this = put_in_field(*this, value, count);
    }
  }

  __device__ __forceinline__ void put(char byte) { put(static_cast<uint8_t>(byte), 1); }

  // Puts text that begins at a word.
  __device__ __forceinline__ void put_text(uint64_t text, int32_t count) {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(text);
#pragma unroll 1
    for (int32_t left = count; left > 0; left -= 8) put(*words++, left < 8 ? left : 8);
  }

  __device__ __forceinline__ void append(uint64_t value, int32_t count) {
    bytes += count;
    if (!IS_WRITING || count == 0) return;
    value &= lowest_bytes(count);
    word |= value << (filled * 8);
    filled += count;
    if (filled < 8) return;
    store(8);
    filled -= 8;
    word = filled == 0 ? 0 : value >> ((count - filled) * 8);
    address += 8;
    others = 0;
  }

  // Stores the bytes of the word up to `end`.
  __device__ __forceinline__ void store(int32_t end) {
    if (others == 0 && end == 8) {
      *reinterpret_cast<uint64_t*>(address) = word;
      return;
    }
#pragma unroll 1
    for (int32_t i = others; i < end; ++i) reinterpret_cast<char*>(address)[i] = static_cast<char>(word >> (i * 8));
  }

  // Stores what is left.
  __device__ __forceinline__ void finish() {
    if (IS_WRITING) store(filled);
  }

  // By value, so that a sink can stay in registers.
  static __device__ __noinline__ TextSink put_in_field(TextSink sink, uint64_t value, int32_t count) {
    const uint64_t counted = NOT_ASCII & lowest_bytes(count);
    const uint64_t quotes = bytes_equal(value, '"') & counted;
    if (sink.pass == FIELD_MEASURE) {
      const uint64_t others_special =
          bytes_equal(value, static_cast<char>(sink.delimiter)) | bytes_equal(value, '\n') | bytes_equal(value, '\r');
      sink.field_bytes += count;
      sink.field_quotes += __popcll(quotes);
      sink.is_special = sink.is_special || (quotes | (others_special & counted)) != 0;
    } else if (quotes == 0) {
      sink.append(value, count);
    } else {
#pragma unroll 1
      for (int32_t i = 0; i < count; ++i, value >>= 8) {
        const uint64_t byte = value & 0xff;
        sink.append(byte == '"' ? byte | byte << 8 : byte, byte == '"' ? 2 : 1);
      }
    }
    return sink;
  }

  __device__ __forceinline__ void begin_field() {
    pass = FIELD_MEASURE;
    field_bytes = 0;
    field_quotes = 0;
    is_special = false;
  }

  // Whether the field must be put once more, now that it is known whether it needs quotes.
  __device__ __forceinline__ bool end_field() {
    const FieldPass ended = pass;
    pass = FIELD_PLAIN;
    if (ended == FIELD_QUOTED) append('"', 1);
    if (ended != FIELD_MEASURE) return false;
    const bool needs_quotes = field_bytes == 0 || is_special;
    if (!IS_WRITING) {
      bytes += field_bytes + (needs_quotes ? 2 + field_quotes : 0);
      return false;
    }
    if (needs_quotes) {
      append('"', 1);
      pass = FIELD_QUOTED;
    }
    return true;
  }
};

}  // namespace millrace

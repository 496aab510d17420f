// SPDX-License-Identifier: Apache-2.0
// Strings in upper and lower case, by the table that io.millrace.expression.function.string.CaseMapping makes and describes.

#pragma once

#include "string_text.cuh"

namespace millrace {

constexpr int32_t CASE_BLOCK = 64;
constexpr int32_t CASE_BLOCKS = 0x10000 / CASE_BLOCK;
constexpr int32_t EXPANDED = 255;
constexpr int32_t CASE_GROWTH = 8;  // bytes that a result may have more than its text

constexpr uint32_t CAPITAL_SIGMA = 0x3A3;
constexpr uint32_t SMALL_SIGMA = 0x3C3;
constexpr uint32_t FINAL_SIGMA = 0x3C2;

struct CaseTable {
  uint32_t first_wide;
  uint32_t last_wide;
  uint32_t expansions_offset;
  uint32_t expansions;
  uint8_t blocks[CASE_BLOCKS];
  uint16_t differences[EXPANDED + 1];

  __device__ inline int32_t element(uint32_t point) const {
    const uint8_t* elements = reinterpret_cast<const uint8_t*>(this + 1);
    return elements[blocks[point / CASE_BLOCK] * CASE_BLOCK + point % CASE_BLOCK];
  }
};

// The highest bit of each byte of an ASCII word that is in [first, last].
__device__ inline uint64_t bytes_between(uint64_t word, int32_t first, int32_t last) {
  const uint64_t ones = 0x0101010101010101ull;
  const uint64_t at_least_first = word + ones * static_cast<uint64_t>(0x80 - first);
  const uint64_t above_last = word + ones * static_cast<uint64_t>(0x7F - last);
  return at_least_first & ~above_last & NOT_ASCII;
}

// Code points written within a limit, which `fits` tells if all were.
struct BoundedWriter {
  char* start;
  int32_t length;
  int32_t limit;
  bool fits;

  __device__ inline void append(uint32_t unit) {
    const int32_t width = unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    fits = fits && length + width <= limit;
    if (!fits) return;
    char* to = start + length;
    for (int32_t i = width - 1; i > 0; --i, unit >>= 6) to[i] = static_cast<char>(0x80 | (unit & 0x3F));
    to[0] = static_cast<char>(width == 1 ? unit : (0xF00u >> width & 0xFF) | unit);
    length += width;
  }

  __device__ inline void append_wide(const char* bytes) {
    fits = fits && length + 4 <= limit;
    if (!fits) return;
    for (int32_t i = 0; i < 4; ++i) start[length++] = bytes[i];
  }
};

__device__ inline void append_expansion(BoundedWriter& writer, const CaseTable* table, uint32_t point) {
  const uint16_t* expansions =
      reinterpret_cast<const uint16_t*>(reinterpret_cast<const char*>(table) + table->expansions_offset);
  int32_t low = 0;
  int32_t high = static_cast<int32_t>(table->expansions) - 1;
  while (low < high) {
    const int32_t middle = (low + high) / 2;
    if (expansions[4 * middle] < point) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (int32_t i = 1; i < 4 && expansions[4 * low + i] != 0; ++i) writer.append(expansions[4 * low + i]);
}

__device__ inline void append_mapped(BoundedWriter& writer, const CaseTable* table, uint32_t point) {
  const int32_t element = table->element(point);
  if (element == EXPANDED) {
    append_expansion(writer, table, point);
  } else {
    writer.append((point + table->differences[element]) & 0xFFFF);
  }
}

// Letters of which Java's word boundaries are certain: two of them have none between them.
__device__ inline bool is_plain_letter(uint32_t point) {
  const bool is_ascii = (point | 0x20) >= 'a' && (point | 0x20) <= 'z';
  const bool is_greek =
      point >= 0x386 && point <= 0x3CE && point != 0x387 && point != 0x38B && point != 0x38D && point != 0x3A2;
  return is_ascii || is_greek;
}

// The small letter of a capital sigma, which has another form at the end of a word; 0 where only Java's word
// boundaries can tell. `before` and `behind` are the code points beside it, or spaces at the ends.
__device__ inline uint32_t small_sigma(uint32_t before, uint32_t behind) {
  if (before == ' ') return SMALL_SIGMA;
  if (!is_plain_letter(before)) return 0;
  return behind == ' ' ? FINAL_SIGMA : is_plain_letter(behind) ? SMALL_SIGMA : 0;
}

// All of a string through the table, which `lower` says is that of lower case.
__device__ inline Outcome<String> map_case(
    char* scratch, const char* bytes, int32_t length, const CaseTable* table, bool lower) {
  BoundedWriter writer = {scratch, 0, length + CASE_GROWTH, true};
  uint32_t before = ' ';
  int32_t width;
  for (int32_t done = 0; done < length; done += width) {
    width = well_formed_width(bytes + done, length - done);
    if (width == 0) return none<String>(NEEDS_HOST);
    const uint32_t point = decode(bytes + done, width);
    if (width == 4) {
      if (point >= table->first_wide && point <= table->last_wide) return none<String>(NEEDS_HOST);
      writer.append_wide(bytes + done);
    } else if (lower && point == CAPITAL_SIGMA) {
      const int32_t next = done + width;
      const int32_t next_width = next < length ? well_formed_width(bytes + next, length - next) : 0;
      const uint32_t small = small_sigma(before, next == length ? ' ' : decode(bytes + next, next_width));
      if (small == 0 || (next < length && next_width == 0)) return none<String>(NEEDS_HOST);
      writer.append(small);
    } else {
      append_mapped(writer, table, point);
    }
    before = point;
  }
  return writer.fits ? value(String{scratch, writer.length}) : none<String>(NEEDS_HOST);
}

// The case of the ASCII letters from `first` to `last` changed, eight bytes at a time; what is not ASCII goes through
// the table.
__device__ inline Outcome<String> change_case(
    char* scratch, const char* bytes, int32_t length, int32_t first, int32_t last, const void* table) {
  uint64_t seen = 0;
  copy_mapped(scratch, bytes, length, [&](uint64_t word) {
    seen |= word;
    return word ^ (bytes_between(word & ~NOT_ASCII, first, last) >> 2);
  });
  if ((seen & NOT_ASCII) == 0) return value(String{scratch, length});
  return map_case(scratch, bytes, length, static_cast<const CaseTable*>(table), first == 'A');
}

}  // namespace millrace

MILLRACE_FUNCTION millrace::Outcome<millrace::String> upper(
    char* scratch, const char* bytes, int32_t length, const void* table) {
  return millrace::change_case(scratch, bytes, length, 'a', 'z', table);
}

MILLRACE_FUNCTION millrace::Outcome<millrace::String> lower(
    char* scratch, const char* bytes, int32_t length, const void* table) {
  return millrace::change_case(scratch, bytes, length, 'A', 'Z', table);
}

// SPDX-License-Identifier: Apache-2.0
// The hash of a key: libcudf's MurmurHash3 and identity, and the hashCode of Java's Long and String.
//
// Everything here compiles for the host too, so that recorded numbers are checked without a GPU.
#pragma once

#include "common/bits.cuh"
#include "common/bytes.cuh"
#include "common/element.cuh"
#include "partition/partition_arguments.cuh"

namespace millrace {

constexpr uint32_t NULL_HASH = 0xffffffffu;

MILLRACE_FUNCTION uint32_t rotate_left(uint32_t value, int bits) {
  return (value << bits) | (value >> (32 - bits));
}

MILLRACE_FUNCTION uint32_t murmur_mix_word(uint32_t hash, uint32_t word) {
  word *= 0xcc9e2d51u;
  word = rotate_left(word, 15);
  word *= 0x1b873593u;
  hash ^= word;
  hash = rotate_left(hash, 13);
  return hash * 5 + 0xe6546b64u;
}

MILLRACE_FUNCTION uint32_t murmur_mix_tail(uint32_t hash, uint32_t word) {
  word *= 0xcc9e2d51u;
  word = rotate_left(word, 15);
  word *= 0x1b873593u;
  return hash ^ word;
}

MILLRACE_FUNCTION uint32_t murmur_finish(uint32_t hash, uint32_t length) {
  hash ^= length;
  hash ^= hash >> 16;
  hash *= 0x85ebca6bu;
  hash ^= hash >> 13;
  hash *= 0xc2b2ae35u;
  return hash ^ (hash >> 16);
}

MILLRACE_FUNCTION uint32_t murmur_of_word(uint32_t seed, uint32_t word) {
  return murmur_finish(murmur_mix_word(seed, word), 4);
}

MILLRACE_FUNCTION uint32_t murmur_of_long(uint32_t seed, uint64_t value) {
  uint32_t hash = murmur_mix_word(seed, static_cast<uint32_t>(value));
  return murmur_finish(murmur_mix_word(hash, static_cast<uint32_t>(value >> 32)), 8);
}

MILLRACE_FUNCTION uint32_t mix_long(uint32_t hash, uint64_t value) {
  hash = murmur_mix_word(hash, static_cast<uint32_t>(value));
  return murmur_mix_word(hash, static_cast<uint32_t>(value >> 32));
}

// The bytes of a string element.
struct ByteRange {
  const uint8_t* bytes;
  int32_t length;
};

// Eight bytes from `begin` on, or those that there are, with zeros above.
MILLRACE_FUNCTION uint64_t bytes_as_long(const ByteRange& range, int32_t begin) {
  const int32_t count = range.length - begin < 8 ? range.length - begin : 8;
  return load_bytes<ConstantMemory>(range.bytes + begin, count);
}

MILLRACE_FUNCTION uint32_t murmur_of_bytes(uint32_t seed, const ByteRange& range) {
  uint32_t hash = seed;
  const int32_t whole = range.length & ~7;
  for (int32_t i = 0; i < whole; i += 8) hash = mix_long(hash, bytes_as_long(range, i));
  uint64_t rest = bytes_as_long(range, whole);
  if ((range.length & 4) != 0) {
    hash = murmur_mix_word(hash, static_cast<uint32_t>(rest));
    rest >>= 32;
  }
  if ((range.length & 3) != 0) hash = murmur_mix_tail(hash, static_cast<uint32_t>(rest));
  return murmur_finish(hash, static_cast<uint32_t>(range.length));
}

// libcudf joins the hashes of several columns as boost does.
MILLRACE_FUNCTION uint32_t combine_hashes(uint32_t left, uint32_t right) {
  return left ^ (right + 0x9e3779b9u + (left << 6) + (left >> 2));
}

MILLRACE_FUNCTION uint32_t without_negative_zero(uint32_t bits) {
  return (bits & 0x7fffffffu) == 0 ? 0 : bits;
}

MILLRACE_FUNCTION uint64_t without_negative_zero(uint64_t bits) {
  return (bits & 0x7fffffffffffffffull) == 0 ? 0 : bits;
}

// A column inside a null struct is null.
MILLRACE_FUNCTION bool is_null(const KeyColumn* columns, int32_t column, int32_t row) {
  while (column != NO_PARENT) {
    const KeyColumn& level = columns[column];
    if (level.validity != 0 && !bit_of(level.validity, level.row_offset + row)) return true;
    column = level.parent;
  }
  return false;
}

MILLRACE_FUNCTION ByteRange bytes_at(const KeyColumn& column, int32_t begin, int32_t length) {
  return {reinterpret_cast<const uint8_t*>(column.data) + begin, length};
}

MILLRACE_FUNCTION ByteRange bytes_of(const KeyColumn& column, int64_t index) {
  int32_t begin = element_of<int32_t>(column.offsets, index);
  return bytes_at(column, begin, element_of<int32_t>(column.offsets, index + 1) - begin);
}

// The value of an element of at most 8 bytes, sign-extended; floating-point values as their bits.
MILLRACE_FUNCTION int64_t integer_of(const KeyColumn& column, int64_t index) {
  switch (column.type) {
    case KEY_BOOL: return element_of<uint8_t>(column.data, index) != 0;
    case KEY_INT8: return element_of<int8_t>(column.data, index);
    case KEY_INT16: return element_of<int16_t>(column.data, index);
    case KEY_INT32:
    case KEY_DECIMAL32:
    case KEY_DATE:
    case KEY_TIME: return element_of<int32_t>(column.data, index);
    case KEY_FLOAT32: return element_of<uint32_t>(column.data, index);
    case KEY_TIMESTAMP_NANOS:
      return static_cast<int64_t>(element_of<uint64_t>(column.data, index) * 1000000ull +
                                  static_cast<uint64_t>(element_of<int32_t>(column.nanos, index)));
    default: return element_of<int64_t>(column.data, index);
  }
}

MILLRACE_FUNCTION uint32_t murmur_of_element(uint32_t seed, const KeyColumn& column, int64_t index) {
  if (column.type == KEY_STRING || column.type == KEY_BINARY) {
    return murmur_of_bytes(seed, bytes_of(column, index));
  }
  if (column.type == KEY_DECIMAL128) {
    uint32_t hash = seed;
    for (int i = 0; i < 4; ++i) hash = murmur_mix_word(hash, element_of<uint32_t>(column.data, 4 * index + i));
    return murmur_finish(hash, 16);
  }
  uint64_t value = static_cast<uint64_t>(integer_of(column, index));
  switch (column.type) {
    case KEY_BOOL:
    case KEY_INT8: return murmur_finish(murmur_mix_tail(seed, value & 0xff), 1);
    case KEY_INT16: return murmur_finish(murmur_mix_tail(seed, value & 0xffff), 2);
    case KEY_FLOAT32:
      return murmur_of_word(seed, without_negative_zero(canonical_not_a_number(static_cast<uint32_t>(value))));
    case KEY_INT32:
    case KEY_DECIMAL32:
    case KEY_DATE:
    case KEY_TIME: return murmur_of_word(seed, static_cast<uint32_t>(value));
    case KEY_FLOAT64: return murmur_of_long(seed, without_negative_zero(canonical_not_a_number(value)));
    default: return murmur_of_long(seed, value);
  }
}

// Double.hashCode() and Float.hashCode() see one NaN but two zeros.
MILLRACE_FUNCTION uint32_t java_hash_of_long(uint64_t value) {
  return static_cast<uint32_t>(value ^ (value >> 32));
}

// Mixes the code point that begins at byte `i` into the hash and moves `i` behind it.
MILLRACE_FUNCTION uint32_t java_mix_code_point(uint32_t hash, const uint8_t* bytes, int32_t length, int32_t& i) {
  uint32_t first = bytes[i];
  int continuation = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  uint32_t point = continuation == 0 ? first : first & (0x3fu >> continuation);
  for (int k = 1; k <= continuation && i + k < length; ++k) point = (point << 6) | (bytes[i + k] & 0x3fu);
  i += continuation + 1;
  if (point > 0xffffu) {
    hash = 31 * hash + (0xd7c0u + (point >> 10));
    point = 0xdc00u + (point & 0x3ffu);
  }
  return 31 * hash + point;
}

// String.hashCode() of UTF-8 bytes: over UTF-16 code units, so a code point above 0xffff counts as two surrogates.
MILLRACE_FUNCTION uint32_t java_hash_of_string(const ByteRange& range) {
  uint32_t hash = 0;
  for (int32_t i = 0; i < range.length;) {
    const int32_t count = range.length - i < 8 ? range.length - i : 8;
    uint64_t word = bytes_as_long(range, i);
    const int32_t ascii = leading_ascii(word, count);
    for (int32_t k = 0; k < ascii; ++k, word >>= 8) hash = 31 * hash + static_cast<uint32_t>(word & 0x7f);
    i += ascii;
    if (ascii < count) hash = java_mix_code_point(hash, range.bytes, range.length, i);
  }
  return hash;
}

// The saturating conversion of a floating-point key, as the GPU converts: NaN is 0 for float, 2^31 for double.
MILLRACE_FUNCTION uint32_t saturated(double value, uint32_t not_a_number) {
  if (value != value) return not_a_number;
  if (value <= 0) return 0;
  return value >= 4294967295.0 ? 0xffffffffu : static_cast<uint32_t>(value);
}

MILLRACE_FUNCTION uint32_t identity_of_element(const KeyColumn& column, int64_t index) {
  if (column.type == KEY_FLOAT32) return saturated(element_of<float>(column.data, index), 0);
  if (column.type == KEY_FLOAT64) return saturated(element_of<double>(column.data, index), 0x80000000u);
  return static_cast<uint32_t>(integer_of(column, index));
}

MILLRACE_FUNCTION uint32_t libcudf_hash_of_element(const PartitionRule& rule, const KeyColumn& column, int64_t index) {
  return rule.hash_function == HASH_IDENTITY ? identity_of_element(column, index)
                                             : murmur_of_element(rule.seed, column, index);
}

// libcudf takes a struct apart into one column per leaf; the struct levels stay with the first leaf below them and
// count (only when some key is null) as 0 or, when null, as NULL_HASH.
MILLRACE_FUNCTION uint32_t libcudf_hash_of_row(const PartitionArguments& arguments, int32_t row) {
  uint32_t hash = 0;
  uint32_t levels_hash = 0;
  bool below_levels = false;
  bool first = true;
  for (int32_t c = 0; c < arguments.key_columns; ++c) {
    const KeyColumn& column = arguments.key[c];
    bool null = is_null(arguments.key, c, row);
    if (column.type == KEY_STRUCT) {
      if (arguments.nulls_present) levels_hash = combine_hashes(levels_hash, null ? NULL_HASH : 0);
      below_levels = true;
      continue;
    }
    uint32_t leaf = null ? NULL_HASH : libcudf_hash_of_element(arguments.rule, column, column.row_offset + row);
    if (below_levels) leaf = combine_hashes(levels_hash, leaf);
    hash = first ? leaf : combine_hashes(hash, leaf);
    levels_hash = 0;
    below_levels = false;
    first = false;
  }
  return hash;
}

}  // namespace millrace

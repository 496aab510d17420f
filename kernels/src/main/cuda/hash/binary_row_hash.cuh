// SPDX-License-Identifier: Apache-2.0
// The hash of the BinaryRowData that Flink builds from the key columns, without building it.
//
// The row is: 8 bytes of header (row kind 0, then one null bit per column), one 8-byte slot per column, then the
// parts of variable length, each padded with zeros to 8 bytes. It is hashed as 4-byte words with seed 42, so two passes over the
// columns are enough: the slots (which hold the offsets of the variable parts), then the parts.
#pragma once

#include "hash.cuh"

namespace millrace {

constexpr uint32_t BINARY_ROW_SEED = 42;
constexpr int32_t LONGEST_INLINE_STRING = 7;
constexpr int32_t LARGEST_COMPACT_DECIMAL = 18;
constexpr uint32_t LARGE_DECIMAL_BYTES = 16;

static_assert(MAX_KEY_COLUMNS <= 56, "the null bits of a key row fit into one header word");

MILLRACE_FUNCTION bool is_decimal(int32_t type) { return type >= KEY_DECIMAL32 && type <= KEY_DECIMAL128; }

MILLRACE_FUNCTION bool is_large_decimal(const KeyColumn& column) {
  return is_decimal(column.type) && column.precision > LARGEST_COMPACT_DECIMAL;
}

MILLRACE_FUNCTION bool is_large_timestamp(const KeyColumn& column) {
  return column.type == KEY_TIMESTAMP_MICROS || column.type == KEY_TIMESTAMP_NANOS;
}

struct Decimal {
  uint64_t high;
  uint64_t low;
};

MILLRACE_FUNCTION Decimal decimal_of(const KeyColumn& column, int64_t index) {
  if (column.type == KEY_DECIMAL128) {
    return {element_of<uint64_t>(column.data, 2 * index + 1), element_of<uint64_t>(column.data, 2 * index)};
  }
  int64_t value = integer_of(column, index);
  return {value < 0 ? ~0ull : 0ull, static_cast<uint64_t>(value)};
}

// Byte i of the value, counted from its least significant byte.
MILLRACE_FUNCTION uint32_t byte_of(const Decimal& decimal, int i) {
  return static_cast<uint32_t>((i < 8 ? decimal.low >> (8 * i) : decimal.high >> (8 * (i - 8))) & 0xff);
}

// The length of BigInteger.toByteArray().
MILLRACE_FUNCTION int length_of(const Decimal& decimal) {
  uint32_t sign = (decimal.high >> 63) != 0 ? 0xff : 0;
  int length = 16;
  while (length > 1 && byte_of(decimal, length - 1) == sign &&
         (byte_of(decimal, length - 2) & 0x80) == (sign & 0x80)) {
    --length;
  }
  return length;
}

// 8 bytes of the value, most significant byte first, left-aligned, as a little-endian word.
MILLRACE_FUNCTION uint64_t left_aligned_bytes(const Decimal& decimal, int length, int begin) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) {
    int position = begin + i;
    if (position < length) word |= static_cast<uint64_t>(byte_of(decimal, length - 1 - position)) << (8 * i);
  }
  return word;
}

struct Timestamp {
  int64_t millis;
  int32_t nanos_of_milli;
};

MILLRACE_FUNCTION Timestamp timestamp_of(const KeyColumn& column, int64_t index) {
  int64_t value = element_of<int64_t>(column.data, index);
  if (column.type == KEY_TIMESTAMP_NANOS) return {value, element_of<int32_t>(column.nanos, index)};
  int64_t millis = value / 1000;
  int64_t rest = value % 1000;
  if (rest < 0) {
    --millis;
    rest += 1000;
  }
  return {millis, static_cast<int32_t>(rest * 1000)};
}

MILLRACE_FUNCTION uint32_t padded(uint32_t length) { return (length + 7) & ~7u; }

// The slot of a string of at most LONGEST_INLINE_STRING bytes.
MILLRACE_FUNCTION uint64_t inline_slot_of(const ByteRange& range) {
  return bytes_as_long(range, 0) | (static_cast<uint64_t>(range.length | 0x80) << 56);
}

MILLRACE_FUNCTION uint32_t mix_padded_bytes(uint32_t hash, const ByteRange& range) {
  for (int32_t i = 0; i < range.length; i += 8) hash = mix_long(hash, bytes_as_long(range, i));
  return hash;
}

// The slot of one column; advances the cursor past its variable part. Null large values keep their place.
MILLRACE_FUNCTION uint64_t slot_of(const KeyColumn& column, int64_t index, bool null, uint32_t& cursor) {
  uint64_t offset = static_cast<uint64_t>(cursor) << 32;
  if (is_large_decimal(column)) {
    cursor += LARGE_DECIMAL_BYTES;
    return null ? offset : offset | static_cast<uint32_t>(length_of(decimal_of(column, index)));
  }
  if (is_large_timestamp(column)) {
    cursor += 8;
    return null ? offset : offset | static_cast<uint32_t>(timestamp_of(column, index).nanos_of_milli);
  }
  if (null) return 0;
  switch (column.type) {
    case KEY_STRING:
    case KEY_BINARY: {
      ByteRange range = bytes_of(column, index);
      if (range.length <= LONGEST_INLINE_STRING) return inline_slot_of(range);
      cursor += padded(range.length);
      return offset | static_cast<uint32_t>(range.length);
    }
    case KEY_DECIMAL128: return decimal_of(column, index).low;
    case KEY_BOOL:
    case KEY_INT8: return static_cast<uint64_t>(integer_of(column, index)) & 0xff;
    case KEY_INT16: return static_cast<uint64_t>(integer_of(column, index)) & 0xffff;
    case KEY_INT32:
    case KEY_DATE:
    case KEY_TIME:
    case KEY_FLOAT32: return static_cast<uint64_t>(integer_of(column, index)) & 0xffffffffu;
    default: return static_cast<uint64_t>(integer_of(column, index));
  }
}

MILLRACE_FUNCTION uint32_t mix_variable_part(uint32_t hash, const KeyColumn& column, int64_t index, bool null) {
  if (is_large_decimal(column)) {
    if (null) return mix_long(mix_long(hash, 0), 0);
    Decimal decimal = decimal_of(column, index);
    int length = length_of(decimal);
    return mix_long(mix_long(hash, left_aligned_bytes(decimal, length, 0)), left_aligned_bytes(decimal, length, 8));
  }
  if (is_large_timestamp(column)) {
    return mix_long(hash, null ? 0 : static_cast<uint64_t>(timestamp_of(column, index).millis));
  }
  if (!null && (column.type == KEY_STRING || column.type == KEY_BINARY)) {
    ByteRange range = bytes_of(column, index);
    if (range.length > LONGEST_INLINE_STRING) return mix_padded_bytes(hash, range);
  }
  return hash;
}

// The hash of the row of one null string.
MILLRACE_FUNCTION uint32_t binary_row_hash_of_one_null() {
  return murmur_finish(mix_long(mix_long(BINARY_ROW_SEED, 1ull << 8), 0), 16);
}

// The hash of the row of one string that is not null.
MILLRACE_FUNCTION uint32_t binary_row_hash_of_one_string(const ByteRange& range) {
  const uint32_t hash = mix_long(BINARY_ROW_SEED, 0);
  constexpr uint32_t FIXED = 16;  // the header and the slot
  if (range.length <= LONGEST_INLINE_STRING) return murmur_finish(mix_long(hash, inline_slot_of(range)), FIXED);
  const uint64_t slot = static_cast<uint64_t>(FIXED) << 32 | static_cast<uint32_t>(range.length);
  return murmur_finish(mix_padded_bytes(mix_long(hash, slot), range), FIXED + padded(range.length));
}

MILLRACE_FUNCTION uint32_t binary_row_hash_of_row(const PartitionArguments& arguments, int32_t row) {
  uint64_t header = 0;
  for (int32_t c = 0; c < arguments.key_columns; ++c) {
    if (is_null(arguments.key, c, row)) header |= 1ull << (8 + c);
  }
  uint32_t hash = mix_long(BINARY_ROW_SEED, header);
  uint32_t cursor = 8 + 8 * arguments.key_columns;
  for (int32_t c = 0; c < arguments.key_columns; ++c) {
    const KeyColumn& column = arguments.key[c];
    bool null = (header >> (8 + c)) & 1;
    hash = mix_long(hash, slot_of(column, column.row_offset + row, null, cursor));
  }
  for (int32_t c = 0; c < arguments.key_columns; ++c) {
    const KeyColumn& column = arguments.key[c];
    bool null = (header >> (8 + c)) & 1;
    hash = mix_variable_part(hash, column, column.row_offset + row, null);
  }
  return murmur_finish(hash, cursor);
}

}  // namespace millrace

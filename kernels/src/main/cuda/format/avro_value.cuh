// SPDX-License-Identifier: Apache-2.0
// Values of Avro's binary encoding to the columns of a row. A value without a field is skipped.
#pragma once

#include "avro_arguments.cuh"
#include "record_value.cuh"
#include "text_utf8.cuh"

namespace millrace {

constexpr int32_t MAX_INT_BYTES = 5;
constexpr int32_t MAX_LONG_BYTES = 10;

// Reads the bits of a variable-length number; those beyond 64 are dropped, as in Avro's library.
static __device__ inline bool read_varint(RecordText& record, int32_t max_bytes, uint64_t& bits) {
  TextCursor& text = record.text;
  bits = 0;
  for (int32_t i = 0; i < max_bytes; ++i) {
    const int32_t byte = text.peek();
    if (byte == END_OF_TEXT) return record.fail(RECORD_TRUNCATED);
    ++text.at;
    bits |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) return true;
  }
  return record.fail(RECORD_INVALID_NUMBER);
}

static __device__ inline bool read_int(RecordText& record, int64_t& value) {
  uint64_t bits;
  if (!read_varint(record, MAX_INT_BYTES, bits)) return false;
  const uint32_t low = static_cast<uint32_t>(bits);
  value = static_cast<int32_t>(low >> 1 ^ (0 - (low & 1)));
  return true;
}

static __device__ inline bool read_long(RecordText& record, int64_t& value) {
  uint64_t bits;
  if (!read_varint(record, MAX_LONG_BYTES, bits)) return false;
  value = static_cast<int64_t>(bits >> 1 ^ (0 - (bits & 1)));
  return true;
}

// Reads up to eight bytes, the first one lowest.
static __device__ inline bool read_fixed(RecordText& record, int32_t bytes, uint64_t& bits) {
  TextCursor& text = record.text;
  if (text.end - text.at < bytes) return record.fail(RECORD_TRUNCATED);
  bits = text.next_bytes() & ~uint64_t{0} >> (64 - bytes * 8);
  text.at += bytes;
  return true;
}

// Reads the number of a branch or a symbol.
static __device__ inline bool read_index(RecordText& record, int32_t count, int64_t& value) {
  if (!read_int(record, value)) return false;
  return (value >= 0 && value < count) || record.fail(RECORD_INVALID_INDEX);
}

// Whether a record has a number of bytes that it should have.
static __device__ inline bool has_bytes(RecordText& record, int64_t bytes) {
  if (bytes < 0) return record.fail(RECORD_INVALID_LENGTH);
  return bytes <= record.text.end - record.text.at || record.fail(RECORD_TRUNCATED);
}

static __device__ __forceinline__ bool fail_value(RecordRow& row, const AvroStep& step) {
  row.record.field = step.field;
  return row.record.fail(RECORD_INVALID_VALUE);
}

static __device__ __forceinline__ int64_t floor_of(int64_t dividend, int64_t divisor) {
  const int64_t quotient = dividend / divisor;
  return dividend - quotient * divisor < 0 ? quotient - 1 : quotient;
}

// A time in the writer's units, which the step divides and multiplies.
static __device__ inline bool put_avro_time(RecordRow& row, const RecordField& field, const RecordColumn& column, const AvroStep& step,
                                            int64_t value) {
  const int64_t quotient = step.divisor == 1 ? value : floor_of(value, step.divisor);
  if (field.type == FIELD_TIMESTAMP && field.width == 1) {
    const int64_t units_of_milli = 1000000 / step.unit;
    const int64_t millis = floor_of(quotient, units_of_milli);
    put<int64_t>(column.values, row.row, millis);
    put<int32_t>(column.second, row.row, static_cast<int32_t>(quotient - millis * units_of_milli) * step.unit);
    return true;
  }
  if (step.multiplier > 1) {
    const int64_t limit = INT64_MAX / step.multiplier;
    if (quotient > limit || quotient < -limit) return fail_value(row, step);
  }
  const int64_t time = quotient * step.multiplier;
  if (field.type == FIELD_TIMESTAMP) {
    put<int64_t>(column.values, row.row, time);
    return true;
  }
  if (value < 0 || time >= 86400000) return fail_value(row, step);
  put<int32_t>(column.values, row.row, static_cast<int32_t>(time));
  return true;
}

static __device__ inline bool put_avro_integer(RecordRow& row, const RecordField& field, const RecordColumn& column,
                                               const AvroStep& step, int64_t value) {
  if (field.type == FIELD_INTEGER) {
    const int32_t unused = 64 - field.width * 8;
    if (static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused != value) return fail_value(row, step);
    put_low_bytes(column.values, row.row, field.width, static_cast<uint64_t>(value));
  } else if (field.type == FIELD_FLOAT && field.width == 8) {
    put<double>(column.values, row.row, static_cast<double>(value));
  } else if (field.type == FIELD_FLOAT) {
    put<float>(column.values, row.row, static_cast<float>(value));
  } else if (field.type == FIELD_DATE) {
    put<int32_t>(column.values, row.row, static_cast<int32_t>(value));
  } else {
    return put_avro_time(row, field, column, step, value);
  }
  return true;
}

static __device__ inline void put_avro_float(RecordRow& row, const RecordField& field, const RecordColumn& column, uint32_t bits) {
  if (field.width == 4) {
    put<uint32_t>(column.values, row.row, bits);
  } else if ((bits & 0x7fffffff) > 0x7f800000) {
    put<uint64_t>(column.values, row.row, 0x7ff8000000000000);
  } else {
    put<double>(column.values, row.row, static_cast<double>(__uint_as_float(bits)));
  }
}

static __device__ __forceinline__ const AvroSymbol& symbol_of(uint64_t plan, int32_t number) {
  return reinterpret_cast<const AvroSymbol*>(plan + reinterpret_cast<const AvroPlan*>(plan)->symbols)[number];
}

// The text of a symbol is copied from the plan, by its number in place of a position.
static __device__ inline void put_avro_symbol(RecordRow& row, const RecordColumn& column, uint64_t plan, int32_t number) {
  put<uint32_t>(column.values, row.row, static_cast<uint32_t>(number) | HAS_ESCAPES);
  put<int32_t>(column.second, row.row, symbol_of(plan, number).text_bytes);
}

// A number in two's complement, the highest byte first, that the record has.
static __device__ inline bool put_avro_decimal(RecordRow& row, const RecordField& field, const RecordColumn& column,
                                               const AvroStep& step, int32_t bytes) {
  TextCursor& text = row.record.text;
  const int32_t start = text.at;
  const int32_t sign = bytes > 0 && (text.byte_at(start) & 0x80) != 0 ? 0xff : 0;
  bool is_valid = bytes > 0;
  for (int32_t i = 0; i < bytes - 16; ++i) is_valid = is_valid && text.byte_at(start + i) == sign;
  uint64_t low = sign == 0 ? 0 : ~uint64_t{0};
  uint64_t high = low;
  for (int32_t i = bytes > 16 ? bytes - 16 : 0; i < bytes; ++i) {
    high = high << 8 | low >> 56;
    low = low << 8 | static_cast<uint64_t>(text.byte_at(start + i));
  }
  is_valid = is_valid && (high >> 63 != 0) == (sign != 0);
  const uint64_t magnitude_low = sign == 0 ? low : 0 - low;
  const uint64_t magnitude_high = sign == 0 ? high : ~high + (low == 0);
  is_valid = is_valid &&
             (magnitude_high < step.bound_high || (magnitude_high == step.bound_high && magnitude_low < step.bound_low));
  if (!is_valid) return fail_value(row, step);
  if (field.width == 16) {
    put<uint64_t>(column.values, int64_t{2} * row.row, low);
    put<uint64_t>(column.values, int64_t{2} * row.row + 1, high);
  } else {
    put_low_bytes(column.values, row.row, field.width, low);
  }
  return true;
}

// Bytes that the record has. The cursor stays in front of them.
static __device__ inline bool put_avro_bytes(RecordRow& row, const RecordField& field, const RecordColumn& column,
                                             const AvroStep& step, int32_t bytes) {
  if (field.type == FIELD_DECIMAL) return put_avro_decimal(row, field, column, step, bytes);
  TextCursor& text = row.record.text;
  put<uint32_t>(column.values, row.row, static_cast<uint32_t>(text.at));
  put<int32_t>(column.second, row.row, bytes);
  if (step.kind != AVRO_TEXT) return true;
  const int32_t start = text.at;
  const int32_t end = text.end;
  text.end = start + bytes;
  if (!skip_text(text)) return row.record.fail(RECORD_NO_UTF8);
  text.at = start;
  text.end = end;
  return true;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// Values of fields of fixed width to the columns of a row.
#pragma once

#include "column_output.cuh"
#include "record_arguments.cuh"
#include "record_text.cuh"
#include "text_number.cuh"
#include "text_time.cuh"

namespace millrace {

constexpr uint32_t HAS_ESCAPES = 0x80000000u;  // of the position of a string

// A set of fields.
struct FieldSet {
  uint64_t low;
  uint64_t high;

  __device__ __forceinline__ bool has(int32_t field) const { return ((field < 64 ? low : high) >> (field % 64) & 1) != 0; }

  __device__ __forceinline__ void add(int32_t field) {
    const uint64_t bit = uint64_t{1} << (field % 64);
    low |= field < 64 ? bit : 0;
    high |= field < 64 ? 0 : bit;
  }
};

struct RecordRow {
  RecordText record;
  int32_t row;
  FieldSet seen;     // fields whose member was met; JSON alone needs it
  FieldSet present;  // fields that are not null, and the record itself
  bool is_undecided;
};

static __device__ __forceinline__ const RecordField& field_of(const RecordArguments& arguments, int32_t field) {
  return reinterpret_cast<const RecordField*>(arguments.fields)[field];
}

// Whether the strings of a row are copied. An undecided row may be kept once its numbers are rounded.
static __device__ __forceinline__ bool is_kept(uint64_t kept, uint64_t errors, int32_t row) {
  return kept == 0 || reinterpret_cast<const uint8_t*>(kept)[row] != 0 ||
         (reinterpret_cast<const uint64_t*>(errors)[row] & 0xff) == RECORD_UNDECIDED;
}

static __device__ inline bool put_float(const RecordArguments& arguments, RecordRow& row, const RecordField& field,
                                        const RecordColumn& column, const NumberText& number) {
  const uint64_t* powers = reinterpret_cast<const uint64_t*>(arguments.powers);
  uint64_t bits;
  const FloatOutcome outcome = float_of(powers, float_format(field.width), number, bits);
  if (outcome == FLOAT_TOO_LARGE) return row.record.fail(RECORD_INVALID_VALUE);
  row.is_undecided |= outcome == FLOAT_UNDECIDED;
  put_low_bytes(column.values, row.row, field.width, bits);
  return true;
}

static __device__ inline bool put_decimal(RecordRow& row, const RecordField& field, const RecordColumn& column,
                                          const TextCursor& text, const NumberText& number) {
  Wide128 value;
  if (!decimal_of(text, number, field.precision, field.scale, value)) return row.record.fail(RECORD_INVALID_VALUE);
  if (field.width == 16) {
    put<uint64_t>(column.values, int64_t{2} * row.row, value.low);
    put<uint64_t>(column.values, int64_t{2} * row.row + 1, value.high);
  } else {
    put_low_bytes(column.values, row.row, field.width, value.low);
  }
  return true;
}

constexpr uint64_t WORD_NAN = 0x4e614e;
constexpr uint64_t WORD_INFINITY = 0x7974696e69666e49;

// NaN and the infinities.
static __device__ inline bool put_not_finite(RecordRow& row, const RecordField& field, const RecordColumn& column, TextCursor& text) {
  const FloatFormat format = float_format(field.width);
  uint64_t bits = static_cast<uint64_t>(format.infinity) << format.mantissa_bits;
  if (text.take_word(WORD_NAN, 3)) {
    bits |= uint64_t{1} << (format.mantissa_bits - 1);
  } else {
    if (text.take('-')) bits |= static_cast<uint64_t>(format.infinity + 1) << format.mantissa_bits;
    if (!text.take_word(WORD_INFINITY, 8)) return false;
  }
  put_low_bytes(column.values, row.row, field.width, bits);
  return true;
}

static __device__ inline bool put_timestamp(RecordRow& row, const RecordField& field, const RecordColumn& column, TextCursor& text) {
  Timestamp value;
  if (!read_timestamp(text, field.scale != 0, field.precision, value)) return false;
  if (field.width == 1) {
    put<int64_t>(column.values, row.row, value.millis);
    put<int32_t>(column.second, row.row, value.nanos);
  } else if (field.width == 1000) {
    put<int64_t>(column.values, row.row, value.millis * 1000 + value.nanos / 1000);
  } else {
    put<int64_t>(column.values, row.row, value.millis);
  }
  return true;
}

// Milliseconds of the last digit of a time.
static __device__ __forceinline__ int32_t unit_of_time(int32_t precision) {
  return precision == 0 ? 1000 : precision == 1 ? 100 : precision == 2 ? 10 : 1;
}

// Reads text without quotes into a field that is neither a string nor an integer nor a boolean; a floating-point number only if it is
// not finite. False if the text does not begin with a value of the field's type.
static __device__ inline bool put_text(RecordRow& row, const RecordField& field, const RecordColumn& column, TextCursor& text) {
  NumberText number;
  int32_t days;
  TimeOfDay time;
  switch (field.type) {
    case FIELD_FLOAT:
      return put_not_finite(row, field, column, text);
    case FIELD_DECIMAL: {
      return read_number(text, false, number) && put_decimal(row, field, column, text, number);
    }
    case FIELD_DATE:
      if (!read_date(text, days)) return false;
      put<int32_t>(column.values, row.row, days);
      return true;
    case FIELD_TIME:
      if (!read_time(text, time)) return false;
      put<int32_t>(column.values, row.row, time.millis - time.millis % unit_of_time(field.precision));
      return true;
    default:
      return put_timestamp(row, field, column, text);
  }
}

constexpr uint64_t LOWER_CASE = 0x2020202020202020ull;
constexpr uint64_t LOWER_TRUE = 0x65757274;
constexpr uint64_t LOWER_FALSE = 0x65736c6166;

static __device__ __forceinline__ bool put_bool(const RecordRow& row, const RecordColumn& column, TextCursor& text) {
  const int32_t bytes = text.end - text.at;
  if (bytes != 4 && bytes != 5) return false;
  const uint64_t word = (text.next_bytes() | LOWER_CASE) & ((uint64_t{1} << (bytes * 8)) - 1);
  text.at = text.end;
  put<uint8_t>(column.values, row.row, word == LOWER_TRUE);
  return word == LOWER_TRUE || word == LOWER_FALSE;
}

static __device__ __forceinline__ bool put_integer(const RecordRow& row, const RecordField& field, const RecordColumn& column,
                                                   TextCursor& text) {
  NumberText number;
  int64_t value;
  if (!read_number(text, false, number) || !number.is_integer || !integer_of(number, field.width, value)) return false;
  put_low_bytes(column.values, row.row, field.width, static_cast<uint64_t>(value));
  return true;
}

static __device__ __forceinline__ bool put_number(const RecordArguments& arguments, RecordRow& row, const RecordField& field,
                                                  const RecordColumn& column, TextCursor& text) {
  NumberText number;
  const int32_t start = text.at;
  if (read_number(text, false, number)) return put_float(arguments, row, field, column, number);
  text.at = start;
  return put_not_finite(row, field, column, text);
}

// Reads text without quotes into a field that is neither a string nor a list nor an object. False if the text does not begin with a
// value of the field's type.
static __device__ inline bool put_scalar(const RecordArguments& arguments, RecordRow& row, const RecordField& field,
                                         const RecordColumn& column, TextCursor& text) {
  switch (field.type) {
    case FIELD_BOOL: return put_bool(row, column, text);
    case FIELD_INTEGER: return put_integer(row, field, column, text);
    case FIELD_FLOAT: return put_number(arguments, row, field, column, text);
    default: return put_text(row, field, column, text);
  }
}

}  // namespace millrace

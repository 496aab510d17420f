// SPDX-License-Identifier: Apache-2.0
// The hashCode() of the objects that Flink's external rows have for the key columns: java.lang, java.time, BigDecimal.
#pragma once

#include "binary_row_hash.cuh"
#include "hash.cuh"

namespace millrace {

constexpr int64_t MILLIS_PER_DAY = 86400000;
constexpr int64_t DAYS_FROM_0000_03_01_TO_1970_01_01 = 719468;
constexpr int64_t DAYS_PER_400_YEARS = 146097;

MILLRACE_FUNCTION int64_t floor_of_quotient(int64_t value, int64_t divisor) {
  int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

// LocalDate.ofEpochDay(day).hashCode(), by way of years that begin in March.
MILLRACE_FUNCTION uint32_t java_hash_of_date(int32_t day) {
  int64_t shifted = day + DAYS_FROM_0000_03_01_TO_1970_01_01;
  int32_t cycle = static_cast<int32_t>(floor_of_quotient(shifted, DAYS_PER_400_YEARS));
  int32_t day_of_cycle = static_cast<int32_t>(shifted - cycle * DAYS_PER_400_YEARS);
  int32_t year_of_cycle = (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36524 - day_of_cycle / 146096) / 365;
  int32_t day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
  int32_t month_from_march = (5 * day_of_year + 2) / 153;
  uint32_t day_of_month = static_cast<uint32_t>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  uint32_t month = static_cast<uint32_t>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  uint32_t year = static_cast<uint32_t>(cycle * 400 + year_of_cycle + (month <= 2 ? 1 : 0));
  return (year & 0xfffff800u) ^ ((year << 11) + (month << 6) + day_of_month);
}

// An Instant's, or a LocalDateTime's with the day cut to an int as Flink cuts it.
MILLRACE_FUNCTION uint32_t java_hash_of_timestamp(const KeyColumn& column, int64_t index) {
  Timestamp timestamp = column.type == KEY_TIMESTAMP_MILLIS ? Timestamp{element_of<int64_t>(column.data, index), 0}
                                                            : timestamp_of(column, index);
  if (column.modifier != 0) {
    int64_t second = floor_of_quotient(timestamp.millis, 1000);
    uint32_t millis_of_second = static_cast<uint32_t>(timestamp.millis - second * 1000);
    uint32_t nanos = millis_of_second * 1000000u + static_cast<uint32_t>(timestamp.nanos_of_milli);
    return java_hash_of_long(static_cast<uint64_t>(second)) + 51u * nanos;
  }
  int64_t day = floor_of_quotient(timestamp.millis, MILLIS_PER_DAY);
  int64_t nanos_of_day = (timestamp.millis - day * MILLIS_PER_DAY) * 1000000 + timestamp.nanos_of_milli;
  return java_hash_of_date(static_cast<int32_t>(day)) ^ java_hash_of_long(static_cast<uint64_t>(nanos_of_day));
}

// BigDecimal's: of the unscaled BigInteger, which is over the 32-bit words of the magnitude with the sign, and the scale.
MILLRACE_FUNCTION uint32_t java_hash_of_decimal(const KeyColumn& column, int64_t index) {
  Decimal value = decimal_of(column, index);
  bool negative = (value.high >> 63) != 0;
  uint64_t low = negative ? 0 - value.low : value.low;
  uint64_t high = negative ? ~value.high + (value.low == 0 ? 1 : 0) : value.high;
  uint32_t hash = static_cast<uint32_t>(high >> 32);
  hash = 31 * hash + static_cast<uint32_t>(high);
  hash = 31 * hash + static_cast<uint32_t>(low >> 32);
  hash = 31 * hash + static_cast<uint32_t>(low);
  return 31 * (negative ? 0 - hash : hash) + static_cast<uint32_t>(column.modifier);
}

// Arrays.hashCode(byte[]).
MILLRACE_FUNCTION uint32_t java_hash_of_bytes(const uint8_t* bytes, int32_t length) {
  uint32_t hash = 1;
  for (int32_t i = 0; i < length; ++i) hash = 31 * hash + static_cast<uint32_t>(static_cast<int8_t>(bytes[i]));
  return hash;
}

MILLRACE_FUNCTION uint32_t java_hash_of_element(const KeyColumn& column, int64_t index) {
  switch (column.type) {
    case KEY_STRING: return java_hash_of_string(bytes_of(column, index));
    case KEY_BINARY: {
      ByteRange range = bytes_of(column, index);
      return java_hash_of_bytes(range.bytes, range.length);
    }
    case KEY_DECIMAL32:
    case KEY_DECIMAL64:
    case KEY_DECIMAL128: return java_hash_of_decimal(column, index);
    case KEY_TIMESTAMP_MILLIS:
    case KEY_TIMESTAMP_MICROS:
    case KEY_TIMESTAMP_NANOS: return java_hash_of_timestamp(column, index);
    default: break;
  }
  uint64_t value = static_cast<uint64_t>(integer_of(column, index));
  switch (column.type) {
    case KEY_BOOL: return value != 0 ? 1231 : 1237;
    case KEY_FLOAT32: return canonical_not_a_number(static_cast<uint32_t>(value));
    case KEY_FLOAT64: return java_hash_of_long(canonical_not_a_number(value));
    case KEY_DATE: return java_hash_of_date(static_cast<int32_t>(value));
    case KEY_TIME: return java_hash_of_long(value * 1000000u);
    case KEY_INT64: return java_hash_of_long(value);
    default: return static_cast<uint32_t>(value);
  }
}

// One column: its hashCode, null is 0. Several: as Flink's tuples.
MILLRACE_FUNCTION uint32_t java_hash_of_row(const PartitionArguments& arguments, int32_t row) {
  uint32_t hash = 0;
  for (int32_t c = 0; c < arguments.key_columns; ++c) {
    const KeyColumn& column = arguments.key[c];
    uint32_t part = is_null(arguments.key, c, row) ? 0 : java_hash_of_element(column, column.row_offset + row);
    hash = 31 * hash + part;
  }
  return hash;
}

}  // namespace millrace

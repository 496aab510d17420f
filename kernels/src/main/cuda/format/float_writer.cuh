// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers as text: the shortest decimal that is nearest to no other number, and of those the nearest one, in
// the form of Java's Double.toString (R. Giulietti, The Schubfach way to render doubles, 2020).
#pragma once

#include <cstdint>

#include "number_writer.cuh"

namespace millrace {

constexpr int32_t WRITE_MIN_POWER = -292;  // of ten, for the largest number
constexpr uint64_t LOW_63_BITS = 0x7fffffffffffffffull;
constexpr uint64_t WORD_NAN = 0x4e614e;
constexpr uint64_t WORD_INFINITY = 0x7974696e69666e49;

// The form of a type.
struct FloatFormat {
  int32_t precision;     // bits of the significand, with the hidden one
  int32_t min_exponent;  // of a significand that is an integer
  int32_t exponent_bits;
  int32_t tiny;          // significands below it give one digit

  static __device__ __forceinline__ FloatFormat of_float() { return {24, -149, 8, 8}; }

  static __device__ __forceinline__ FloatFormat of_double() { return {53, -1074, 11, 3}; }

  __device__ __forceinline__ uint64_t hidden_bit() const { return uint64_t{1} << (precision - 1); }
};

// significand * 10^exponent
struct ShortestDecimal {
  uint64_t significand;
  int32_t exponent;
};

// The product, rounded to odd.
static __device__ __forceinline__ int64_t round_to_odd(uint64_t high, uint64_t low, uint64_t factor) {
  const uint64_t middle = (high * factor >> 1) + __umul64hi(low, factor);
  const uint64_t upper = __umul64hi(high, factor) + (middle >> 63);
  return static_cast<int64_t>(upper | ((middle & LOW_63_BITS) + LOW_63_BITS) >> 63);
}

// Of significand * 2^exponent
static __device__ inline ShortestDecimal shortest_decimal_of(uint64_t powers, const FloatFormat& format, uint64_t significand,
                                                             int32_t exponent) {
  const bool is_regular = significand != format.hidden_bit() || exponent == format.min_exponent;
  const int64_t is_odd = static_cast<int64_t>(significand & 1);
  const int64_t thirds = is_regular ? 0 : -274743187321;
  const int32_t power = static_cast<int32_t>((exponent * 661971961083 + thirds) >> 41);
  const int32_t scale = exponent + static_cast<int32_t>(-power * 913124641741 >> 38) + 2;
  const uint64_t* pair = reinterpret_cast<const uint64_t*>(powers) + 2 * (-power - WRITE_MIN_POWER);
  const uint64_t middle = significand << 2;
  const int64_t value = round_to_odd(pair[0], pair[1], middle << scale);
  const int64_t lower = round_to_odd(pair[0], pair[1], (middle - (is_regular ? 2 : 1)) << scale) + is_odd;
  const int64_t upper = round_to_odd(pair[0], pair[1], (middle + 2) << scale) - is_odd;
  const int64_t below = value >> 2;
  if (below >= 100) {
    const int64_t tens = below / 10 * 10;
    const bool has_lower = lower <= tens << 2;
    const bool has_upper = (tens + 10) << 2 <= upper;
    if (has_lower != has_upper) return {static_cast<uint64_t>(has_lower ? tens : tens + 10), power};
  }
  const bool has_lower = lower <= below << 2;
  const bool has_upper = (below + 1) << 2 <= upper;
  const int64_t difference = value - ((2 * below + 1) << 1);
  const bool is_nearer = difference < 0 || (difference == 0 && (below & 1) == 0);
  const bool takes_lower = has_lower != has_upper ? has_lower : is_nearer;
  return {static_cast<uint64_t>(takes_lower ? below : below + 1), power};
}

// Of a number that is finite and not zero, by the bits of its exponent and of its fraction.
static __device__ inline ShortestDecimal shortest_decimal(uint64_t powers, const FloatFormat& format, int32_t exponent,
                                                          uint64_t fraction) {
  const int32_t halves = exponent == 0 ? -format.min_exponent : 1 - format.min_exponent - exponent;
  const uint64_t significand = exponent == 0 ? fraction : fraction | format.hidden_bit();
  if (exponent != 0 && halves > 0 && halves < format.precision && significand >> halves << halves == significand) {
    return {significand >> halves, 0};
  }
  const bool is_tiny = significand < static_cast<uint64_t>(format.tiny);
  ShortestDecimal decimal = shortest_decimal_of(powers, format, is_tiny ? 10 * significand : significand, -halves);
  if (is_tiny) --decimal.exponent;
  return decimal;
}

template <typename Sink>
static __device__ inline void put_shortest(Sink& sink, const ShortestDecimal& decimal) {
  const NumberDigits digits = digits_of(decimal.significand, 0);
  const int32_t first = digits.first;
  int32_t end = DIGITS;
#pragma unroll 1
  while (end > first + 1 && digits.is_zero_at(end - 1)) --end;
  const int32_t point = decimal.exponent + DIGITS - first;  // digits before the point
  const bool is_plain = point > -3 && point <= 7;
  int32_t next = first;
  if (is_plain && point <= 0) {
    sink.put(0x302e30 | ZERO_DIGITS << 16, 2 - point);
  } else {
    next += is_plain ? point : 1;
    put_digits(sink, digits, first, next);
    sink.put('.');
    if (next >= end) sink.put('0');
  }
  put_digits(sink, digits, next, end);
  if (!is_plain) {
    sink.put('E');
    if (point < 1) sink.put('-');
    put_small_number(sink, static_cast<uint32_t>(point < 1 ? 1 - point : point - 1));
  }
}

// Puts a number that is its bits. NaN and the infinities are between quotes if asked for.
template <typename Sink>
static __device__ inline void put_float(Sink& sink, uint64_t powers, const FloatFormat& format, uint64_t bits,
                                        bool is_quoted) {
  const uint64_t fraction = bits & (format.hidden_bit() - 1);
  const int32_t limit = (1 << format.exponent_bits) - 1;
  const int32_t exponent = static_cast<int32_t>(bits >> (format.precision - 1)) & limit;
  const bool is_negative = (bits >> (format.precision - 1 + format.exponent_bits) & 1) != 0;
  if (exponent == limit) {
    if (is_quoted) sink.put('"');
    if (fraction != 0) {
      sink.put(WORD_NAN, 3);
    } else {
      if (is_negative) sink.put('-');
      sink.put(WORD_INFINITY, 8);
    }
    if (is_quoted) sink.put('"');
    return;
  }
  if (is_negative) sink.put('-');
  if (exponent == 0 && fraction == 0) {
    sink.put(0x302e30, 3);
  } else {
    put_shortest(sink, shortest_decimal(powers, format, exponent, fraction));
  }
}

}  // namespace millrace

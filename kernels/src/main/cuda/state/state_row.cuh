// SPDX-License-Identifier: Apache-2.0
// Keys and accumulators of one row: of a batch, and of the state.
//
// Everything here compiles for the host too, so that the numbers can be checked without a GPU.
#pragma once

#include "common/bits.cuh"
#include "common/element.cuh"
#include "state_arguments.cuh"

namespace millrace {

constexpr uint64_t SIGN_BIT = 0x8000000000000000ull;

MILLRACE_FUNCTION uint64_t bits_at(uint64_t address, int32_t width) {
  switch (width) {
    case 1: return *reinterpret_cast<const uint8_t*>(address);
    case 2: return *reinterpret_cast<const uint16_t*>(address);
    case 4: return *reinterpret_cast<const uint32_t*>(address);
    default: return *reinterpret_cast<const uint64_t*>(address);
  }
}

MILLRACE_FUNCTION void put_bits(uint64_t address, int32_t width, uint64_t bits) {
  switch (width) {
    case 1: *reinterpret_cast<uint8_t*>(address) = static_cast<uint8_t>(bits); break;
    case 2: *reinterpret_cast<uint16_t*>(address) = static_cast<uint16_t>(bits); break;
    case 4: *reinterpret_cast<uint32_t*>(address) = static_cast<uint32_t>(bits); break;
    default: *reinterpret_cast<uint64_t*>(address) = bits;
  }
}

template <typename Source>
MILLRACE_FUNCTION bool is_null_in(const Source& source, int64_t row) {
  return source.validity != 0 && !bit_of(source.validity, source.row_offset + row);
}

// Nulls are zero, and tell from zeros by the null word.
MILLRACE_FUNCTION uint64_t word_of_key(const KeyWord& word, int64_t row) {
  if (is_null_in(word, row)) return 0;
  const uint64_t bits = bits_at(word.data + row * word.stride, word.width);
  switch (word.type) {
    case WORD_FLOAT32: return canonical_not_a_number(static_cast<uint32_t>(bits));
    case WORD_FLOAT64: return canonical_not_a_number(bits);
    default: return bits;
  }
}

MILLRACE_FUNCTION uint64_t null_word_of_key(const StateArguments& arguments, int64_t row) {
  uint64_t nulls = 0;
  for (int w = 0; w < arguments.key_words; ++w) {
    const KeyWord& word = arguments.key[w];
    if (word.null_bit != NO_NULL_BIT && is_null_in(word, row)) nulls |= uint64_t{1} << word.null_bit;
  }
  return nulls;
}

MILLRACE_FUNCTION uint32_t hash_of_key(const StateArguments& arguments, int64_t row) {
  uint64_t hash = murmur_finish_long(word_of_key(arguments.key[0], row));
  for (int w = 1; w < arguments.key_words; ++w) hash = murmur_finish_long(hash * 31 + word_of_key(arguments.key[w], row));
  if (arguments.has_null_word) hash = murmur_finish_long(hash * 31 + null_word_of_key(arguments, row));
  return static_cast<uint32_t>(hash >> 32);
}

MILLRACE_FUNCTION bool equal_keys(const StateArguments& arguments, int64_t left, int64_t right) {
  for (int w = 0; w < arguments.key_words; ++w) {
    if (word_of_key(arguments.key[w], left) != word_of_key(arguments.key[w], right)) return false;
  }
  return !arguments.has_null_word || null_word_of_key(arguments, left) == null_word_of_key(arguments, right);
}

MILLRACE_FUNCTION uint64_t* state_row(const StateArguments& arguments, int64_t row) {
  const uint64_t chunk = element_of<uint64_t>(arguments.chunks, row >> arguments.chunk_shift);
  const int64_t in_chunk = row & ((int64_t{1} << arguments.chunk_shift) - 1);
  return reinterpret_cast<uint64_t*>(chunk) + in_chunk * arguments.row_words;
}

MILLRACE_FUNCTION bool is_key_of(const StateArguments& arguments, int64_t row, const uint64_t* state) {
  for (int w = 0; w < arguments.key_words; ++w) {
    if (word_of_key(arguments.key[w], row) != state[w]) return false;
  }
  return !arguments.has_null_word || null_word_of_key(arguments, row) == state[arguments.key_words];
}

// Writes the key of a new row, and zeros behind the accumulators.
MILLRACE_FUNCTION void put_key(const StateArguments& arguments, int64_t row, uint64_t* state) {
  for (int w = 0; w < arguments.key_words; ++w) state[w] = word_of_key(arguments.key[w], row);
  if (arguments.has_null_word) state[arguments.key_words] = null_word_of_key(arguments, row);
  for (int w = arguments.first_accumulator + arguments.accumulator_words; w < arguments.row_words; ++w) state[w] = 0;
}

// Integers whose order as signed numbers is the order of Double.compare and Float.compare.
MILLRACE_FUNCTION int64_t sortable_float64(int64_t bits) {
  const int64_t canonical = static_cast<int64_t>(canonical_not_a_number(static_cast<uint64_t>(bits)));
  return canonical ^ ((canonical >> 63) & 0x7fffffffffffffffll);
}

MILLRACE_FUNCTION int32_t sortable_float32(int32_t bits) {
  const int32_t canonical = static_cast<int32_t>(canonical_not_a_number(static_cast<uint32_t>(bits)));
  return canonical ^ ((canonical >> 31) & 0x7fffffff);
}

MILLRACE_FUNCTION int64_t integer_of_value(const AccumulatedValue& value, int64_t row) {
  const uint64_t address = value.data + row * value.stride;
  switch (value.type) {
    case VALUE_ONE: return 1;
    case VALUE_INT8: return *reinterpret_cast<const int8_t*>(address);
    case VALUE_INT16: return *reinterpret_cast<const int16_t*>(address);
    case VALUE_INT32: return *reinterpret_cast<const int32_t*>(address);
    case VALUE_FLOAT32: return sortable_float32(*reinterpret_cast<const int32_t*>(address));
    case VALUE_FLOAT64: return sortable_float64(*reinterpret_cast<const int64_t*>(address));
    default: return *reinterpret_cast<const int64_t*>(address);
  }
}

MILLRACE_FUNCTION bool is_retraction(const StateArguments& arguments, int64_t row) {
  if (arguments.row_kinds == 0) return false;
  const int8_t kind = element_of<int8_t>(arguments.row_kinds, row);
  return kind == CHANGE_UPDATE_BEFORE || kind == CHANGE_DELETE;
}

MILLRACE_FUNCTION int words_of(int32_t operation) {
  switch (operation) {
    case OPERATION_SUM_128: return 2;
    case OPERATION_SUM_192: return 3;
    default: return 1;
  }
}

// The words of an accumulator, the lowest first. The words that it does not have are unspecified.
struct AccumulatorWords {
  uint64_t low;
  uint64_t middle;
  uint64_t high;
};

// Word i is at words[i * stride].
MILLRACE_FUNCTION AccumulatorWords words_at(const uint64_t* words, int32_t count, int64_t stride) {
  return {words[0], count > 1 ? words[stride] : 0, count > 2 ? words[2 * stride] : 0};
}

MILLRACE_FUNCTION void put_words(uint64_t* words, int32_t count, int64_t stride, const AccumulatorWords& accumulator) {
  words[0] = accumulator.low;
  if (count > 1) words[stride] = accumulator.middle;
  if (count > 2) words[2 * stride] = accumulator.high;
}

MILLRACE_FUNCTION bool are_equal(const AccumulatorWords& left, const AccumulatorWords& right, int32_t count) {
  return left.low == right.low && (count < 2 || left.middle == right.middle) && (count < 3 || left.high == right.high);
}

MILLRACE_FUNCTION uint64_t sign_of(uint64_t word) { return static_cast<uint64_t>(static_cast<int64_t>(word) >> 63); }

// left + right + carry; carry becomes the carry out of it.
MILLRACE_FUNCTION uint64_t add_with_carry(uint64_t left, uint64_t right, uint64_t& carry) {
  const uint64_t partial = left + right;
  const uint64_t sum = partial + carry;
  carry = (partial < left) | (sum < partial);
  return sum;
}

MILLRACE_FUNCTION AccumulatorWords sum_of(const AccumulatorWords& left, const AccumulatorWords& right) {
  uint64_t carry = 0;
  const uint64_t low = add_with_carry(left.low, right.low, carry);
  const uint64_t middle = add_with_carry(left.middle, right.middle, carry);
  return {low, middle, left.high + right.high + carry};
}

MILLRACE_FUNCTION AccumulatorWords addend_of(const AccumulatedValue& value, int64_t row, bool is_retraction) {
  AccumulatorWords element;
  if (value.type == VALUE_INT128) {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(value.data + row * value.stride);
    element = {words[0], words[1], sign_of(words[1])};
  } else {
    const uint64_t integer = static_cast<uint64_t>(integer_of_value(value, row));
    element = {integer, sign_of(integer), sign_of(integer)};
  }
  return is_retraction ? sum_of({~element.low, ~element.middle, ~element.high}, {1, 0, 0}) : element;
}

// The accumulator of one element. Of minima and maxima, signed numbers are shifted to unsigned ones, so that the smallest
// is zero.
MILLRACE_FUNCTION AccumulatorWords accumulator_of(const AccumulatedValue& value, int64_t row, bool is_retraction) {
  if (value.type == VALUE_STATE) {
    const uint64_t* state = reinterpret_cast<const uint64_t*>(value.data + row * value.stride);
    return words_at(state, words_of(value.operation), 1);
  }
  if (value.operation == OPERATION_MIN || value.operation == OPERATION_MAX) {
    const uint64_t shifted = static_cast<uint64_t>(integer_of_value(value, row)) ^ SIGN_BIT;
    return {value.operation == OPERATION_MAX ? shifted : ~shifted, 0, 0};
  }
  return addend_of(value, row, is_retraction);
}

MILLRACE_FUNCTION AccumulatorWords combine_accumulators(int32_t operation, const AccumulatorWords& left,
                                                        const AccumulatorWords& right) {
  if (operation == OPERATION_MIN || operation == OPERATION_MAX) return left.low > right.low ? left : right;
  return sum_of(left, right);
}

constexpr uint64_t RESULT_END_LOW = 0x98a224000000000ull;  // 10^38
constexpr uint64_t RESULT_END_HIGH = 0x4b3b4ca85a86c47aull;

// Whether a number has up to 38 digits.
MILLRACE_FUNCTION bool is_in_result(uint64_t low, uint64_t high) {
  const uint64_t sign = sign_of(high);
  const uint64_t absolute_low = (low ^ sign) - sign;
  const uint64_t absolute_high = (high ^ sign) + (sign != 0 && low == 0 ? 1 : 0);
  return absolute_high == RESULT_END_HIGH ? absolute_low < RESULT_END_LOW : absolute_high < RESULT_END_HIGH;
}

// Writes an accumulator as a value of the result's type; unspecified if no value was accumulated. Returns false if it does
// not fit that type.
MILLRACE_FUNCTION bool put_result(const AccumulatedValue& value, int64_t row, const AccumulatorWords& accumulator) {
  const uint64_t column = value.output;
  uint64_t integer = accumulator.low;
  if (value.operation == OPERATION_MIN || value.operation == OPERATION_MAX) {
    integer = (value.operation == OPERATION_MAX ? integer : ~integer) ^ SIGN_BIT;
  }
  switch (value.result) {
    case VALUE_INT8: put_bits(column + row, 1, integer); break;
    case VALUE_INT16: put_bits(column + 2 * row, 2, integer); break;
    case VALUE_INT32: put_bits(column + 4 * row, 4, integer); break;
    case VALUE_FLOAT32: {
      const int32_t sortable = static_cast<int32_t>(integer);
      put_bits(column + 4 * row, 4, static_cast<uint32_t>(sortable ^ ((sortable >> 31) & 0x7fffffff)));
      break;
    }
    case VALUE_FLOAT64: {
      const int64_t sortable = static_cast<int64_t>(integer);
      put_bits(column + 8 * row, 8, static_cast<uint64_t>(sortable ^ ((sortable >> 63) & 0x7fffffffffffffffll)));
      break;
    }
    case VALUE_INT128: {
      put_bits(column + 16 * row, 8, accumulator.low);
      put_bits(column + 16 * row + 8, 8, accumulator.middle);
      const bool fits = value.operation == OPERATION_SUM_128 || accumulator.high == sign_of(accumulator.middle);
      return fits && is_in_result(accumulator.low, accumulator.middle);
    }
    default: put_bits(column + 8 * row, 8, integer);
  }
  return true;
}

}  // namespace millrace

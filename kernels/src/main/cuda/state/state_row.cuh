// SPDX-License-Identifier: Apache-2.0
// Keys and accumulators of one row: of a batch, and of the state.
//
// Everything here compiles for the host too, so that the numbers can be checked without a GPU.
#pragma once

#include "common/bits.cuh"
#include "common/element.cuh"
#include "state_arguments.cuh"
#include "state_string.cuh"

namespace millrace {

constexpr uint64_t SIGN_BIT = 0x8000000000000000ull;
constexpr int SECTOR_WORDS = 4;  // a sector of 32 bytes

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

struct alignas(16) Pair {
  uint64_t first;
  uint64_t second;
};

// Writes two elements, of which the first has an even number.
MILLRACE_FUNCTION void put_pair(uint64_t address, int32_t width, uint64_t first, uint64_t second) {
  switch (width) {
    case 1: *reinterpret_cast<uint16_t*>(address) = static_cast<uint16_t>(first & 0xff | second << 8); break;
    case 2: *reinterpret_cast<uint32_t*>(address) = static_cast<uint32_t>(first & 0xffff | second << 16); break;
    case 4: *reinterpret_cast<uint64_t*>(address) = first & 0xffffffff | second << 32; break;
    default: *reinterpret_cast<Pair*>(address) = {first, second};
  }
}

// Nulls are zero, and tell from zeros by the null word.
MILLRACE_FUNCTION uint64_t word_of_key(const KeyWord& word, int64_t row) {
  if (is_null_in(word, row)) return 0;
  if (is_string(word)) return word_of_string_key(word, row);
  const uint64_t bits = bits_at(word.data + row * word.stride, word.width);
  switch (word.type) {
    case WORD_FLOAT32: return canonical_not_a_number(static_cast<uint32_t>(bits));
    case WORD_FLOAT64: return canonical_not_a_number(bits);
    default: return bits;
  }
}

template <typename Arguments>
MILLRACE_FUNCTION uint64_t null_word_of_key(const Arguments& arguments, int64_t row) {
  uint64_t nulls = 0;
  for (int w = 0; w < arguments.key_words; ++w) {
    const KeyWord& word = arguments.key[w];
    if (word.null_bit != NO_NULL_BIT && is_null_in(word, row)) nulls |= uint64_t{1} << word.null_bit;
  }
  return nulls;
}

MILLRACE_FUNCTION uint64_t mix_hash(uint64_t hash, uint64_t word) { return murmur_finish_long(hash * 31 + word); }

template <typename Arguments>
MILLRACE_FUNCTION uint32_t hash_of_key(const Arguments& arguments, int64_t row) {
  uint64_t hash = murmur_finish_long(word_of_key(arguments.key[0], row));
  for (int w = 1; w < arguments.key_words; ++w) {
    const KeyWord& word = arguments.key[w];
    hash = mix_hash(hash, word_of_key(word, row));
    if (!is_tail(word)) continue;
    const KeyString string = string_of_key(word, row);
    for (int32_t i = 0; i < words_of_string(string); ++i) hash = mix_hash(hash, word_of_string(string, i));
  }
  if (arguments.has_null_word) hash = mix_hash(hash, null_word_of_key(arguments, row));
  return static_cast<uint32_t>(hash >> 32);
}

// Of two strings of the same length.
MILLRACE_FUNCTION bool equal_long_strings(const KeyString& left, const KeyString& right) {
  for (int32_t i = 0; i < words_of_string(left); ++i) {
    if (word_of_string(left, i) != word_of_string(right, i)) return false;
  }
  return true;
}

MILLRACE_FUNCTION bool equal_keys(const StateArguments& arguments, int64_t left, int64_t right) {
  for (int w = 0; w < arguments.key_words; ++w) {
    const KeyWord& word = arguments.key[w];
    if (word_of_key(word, left) != word_of_key(word, right)) return false;
    if (is_tail(word) && !equal_long_strings(string_of_key(word, left), string_of_key(word, right))) return false;
  }
  return !arguments.has_null_word || null_word_of_key(arguments, left) == null_word_of_key(arguments, right);
}

template <typename Arguments>
MILLRACE_FUNCTION uint64_t* state_row(const Arguments& arguments, int64_t row) {
  const uint64_t chunk = element_of<uint64_t>(arguments.chunks, row >> arguments.chunk_shift);
  const int64_t in_chunk = row & ((int64_t{1} << arguments.chunk_shift) - 1);
  return reinterpret_cast<uint64_t*>(chunk) + in_chunk * arguments.row_words;
}

// Whether a long string of the same length is stored at a position.
template <typename Arguments>
MILLRACE_FUNCTION bool is_stored_string(const Arguments& arguments, const KeyString& string, uint64_t position) {
  for (int32_t i = 0; i < words_of_string(string); ++i) {
    if (word_of_string(string, i) != *stored_word(arguments.strings, static_cast<int64_t>(position) + i)) return false;
  }
  return true;
}

template <typename Arguments>
MILLRACE_FUNCTION bool is_key_of(const Arguments& arguments, int64_t row, const uint64_t* state) {
  for (int w = 0; w < arguments.key_words; ++w) {
    const KeyWord& word = arguments.key[w];
    if (is_tail(word)) {
      const KeyString string = string_of_key(word, row);
      if (words_of_string(string) > 0) {
        if (!is_stored_string(arguments, string, state[w])) return false;
        continue;
      }
    }
    if (word_of_key(word, row) != state[w]) return false;
  }
  return !arguments.has_null_word || null_word_of_key(arguments, row) == state[arguments.key_words];
}

// Notes the first row of a new key, and whether state_strings must store long strings.
MILLRACE_FUNCTION void note_new_key(const StateArguments& arguments, int64_t row, int64_t new_key) {
  reinterpret_cast<uint32_t*>(arguments.new_rows)[new_key] = static_cast<uint32_t>(row);
  for (int w = 0; w < arguments.key_words; ++w) {
    const KeyWord& word = arguments.key[w];
    if (is_tail(word) && words_of_string(string_of_key(word, row)) > 0) {
      reinterpret_cast<volatile uint32_t*>(arguments.counts)[2] = 1;
    }
  }
}

// Writes the key of a new row. The places of long strings are zero as yet.
MILLRACE_FUNCTION void put_key(const StateArguments& arguments, int64_t row, uint64_t* state) {
  for (int w = 0; w < arguments.key_words; ++w) state[w] = word_of_key(arguments.key[w], row);
  if (arguments.has_null_word) state[arguments.key_words] = null_word_of_key(arguments, row);
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
    case VALUE_CONSTANT: return static_cast<int64_t>(address);
    case VALUE_INT8: return *reinterpret_cast<const int8_t*>(address);
    case VALUE_INT16: return *reinterpret_cast<const int16_t*>(address);
    case VALUE_INT32: return *reinterpret_cast<const int32_t*>(address);
    case VALUE_FLOAT32: return sortable_float32(*reinterpret_cast<const int32_t*>(address));
    case VALUE_FLOAT64: return sortable_float64(*reinterpret_cast<const int64_t*>(address));
    case VALUE_SIGN32: return *reinterpret_cast<const int32_t*>(address) >> 31;
    case VALUE_SIGN64: return *reinterpret_cast<const int64_t*>(address) >> 63;
    default: return *reinterpret_cast<const int64_t*>(address);
  }
}

MILLRACE_FUNCTION bool is_retraction(const StateArguments& arguments, int64_t row) {
  if (arguments.row_kinds == 0) return false;
  const int8_t kind = element_of<int8_t>(arguments.row_kinds, row);
  return kind == CHANGE_UPDATE_BEFORE || kind == CHANGE_DELETE;
}

// A word of the accumulator of one element, without the carry into it. Of minima and maxima, signed numbers are shifted to
// unsigned ones, so that the smallest is zero.
MILLRACE_FUNCTION uint64_t accumulator_of(const AccumulatedValue& value, int64_t row, bool is_retraction) {
  const uint64_t integer = static_cast<uint64_t>(integer_of_value(value, row));
  if (value.type == VALUE_STATE) return integer;
  switch (value.operation) {
    case OPERATION_MIN: return ~(integer ^ SIGN_BIT);
    case OPERATION_MAX: return integer ^ SIGN_BIT;
    default: return is_retraction ? ~integer : integer;
  }
}

// Whether state_fold combines the values.
MILLRACE_FUNCTION bool is_ordered(int32_t operation) { return operation >= OPERATION_ADD_FLOAT32; }

MILLRACE_FUNCTION bool is_extreme(int32_t operation) { return operation == OPERATION_MIN || operation == OPERATION_MAX; }

// The carry into the first word of a sum: a number is taken back by adding its complement and 1.
MILLRACE_FUNCTION uint64_t first_carry(bool is_retraction) { return is_retraction ? 1 : 0; }

// Combines one word. `carry` is the carry out of the word before, and becomes the carry out of this one; `first` is the
// carry into the first word of a sum.
MILLRACE_FUNCTION uint64_t combine_accumulators(int32_t operation, uint64_t left, uint64_t right, uint64_t first,
                                                uint64_t& carry) {
  if (is_extreme(operation)) return left > right ? left : right;
  if (operation != OPERATION_CARRY) carry = first;
  const uint64_t partial = left + right;
  const uint64_t sum = partial + carry;
  carry = (partial < left) | (sum < partial);
  return sum;
}

// The bits of an accumulator as a value of the result's type; unspecified if no value was accumulated.
MILLRACE_FUNCTION uint64_t result_of(const AccumulatedValue& value, uint64_t accumulator) {
  if (value.operation == OPERATION_ADD_FLOAT32) return accumulator ^ 0x80000000u;
  if (value.operation == OPERATION_ADD_FLOAT64) return accumulator ^ SIGN_BIT;
  if (!is_extreme(value.operation)) return accumulator;
  const uint64_t integer = (value.operation == OPERATION_MAX ? accumulator : ~accumulator) ^ SIGN_BIT;
  switch (value.result) {
    case VALUE_FLOAT32: {
      const int32_t sortable = static_cast<int32_t>(integer);
      return static_cast<uint32_t>(sortable ^ ((sortable >> 31) & 0x7fffffff));
    }
    case VALUE_FLOAT64: {
      const int64_t sortable = static_cast<int64_t>(integer);
      return static_cast<uint64_t>(sortable ^ ((sortable >> 63) & 0x7fffffffffffffffll));
    }
    default: return integer;
  }
}

MILLRACE_FUNCTION int32_t width_of_value(int32_t type) {
  switch (type) {
    case VALUE_INT8: return 1;
    case VALUE_INT16: return 2;
    case VALUE_INT32:
    case VALUE_FLOAT32: return 4;
    default: return 8;
  }
}

// Writes an accumulator as a value of the result.
MILLRACE_FUNCTION void put_result(const AccumulatedValue& value, int64_t row, uint64_t accumulator) {
  if (value.operation == OPERATION_FURTHER) return;
  const int32_t width = width_of_value(value.result);
  const int32_t stride = value.result == VALUE_HALF ? 2 * width : width;
  put_bits(value.output + stride * row, width, result_of(value, accumulator));
}

// Writes the accumulators of a key before and after an update as two values of the result, the first at an even row.
MILLRACE_FUNCTION void put_results(const AccumulatedValue& value, int64_t row, uint64_t before, uint64_t after) {
  if (value.operation == OPERATION_FURTHER) return;
  if (value.result == VALUE_HALF) {
    put_result(value, row, before);
    put_result(value, row + 1, after);
    return;
  }
  const int32_t width = width_of_value(value.result);
  put_pair(value.output + width * row, width, result_of(value, before), result_of(value, after));
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// Values of two words, such as the largest string: the row of the batch whose value is kept.
#pragma once

#include "state_fold.cuh"
#include "state_move.cuh"

namespace millrace {

constexpr uint32_t NO_ROW = 0xffffffffu;

// A value of a row, or of the state. A long string of another state has no place in this one yet: its second word is 0.
struct WideElement {
  uint64_t first;
  uint64_t second;
  KeyString string;  // of strings
};

static __device__ __forceinline__ WideElement stored_element(const FoldedValue& value, const uint64_t* words,
                                                             uint64_t chunks) {
  WideElement element = {words[0], words[1], {0, 0, 0}};
  if (value.kind != VALUE_STRING) return element;
  const int32_t length = static_cast<int32_t>(words[0]);
  if (length > INLINE_BYTES) {
    element.string = {words[1], length, chunks};
    element.second = 0;
  } else {
    // The first bytes lie in the high half of the head, before the tail.
    element.string = {reinterpret_cast<uint64_t>(words) + PREFIX_BYTES, length, 0};
  }
  return element;
}

static __device__ __forceinline__ WideElement string_element(const FoldedValue& value, uint32_t row) {
  const int32_t begin = element_of<int32_t>(value.second, row);
  const int32_t length = element_of<int32_t>(value.second, static_cast<int64_t>(row) + 1) - begin;
  const KeyString string = {value.data + static_cast<uint64_t>(begin), length, 0};
  const uint64_t head = static_cast<uint32_t>(length) | bytes_of_string(string, 0, PREFIX_BYTES) << 32;
  const uint64_t tail = length > INLINE_BYTES ? 0 : bytes_of_string(string, PREFIX_BYTES, INLINE_BYTES - PREFIX_BYTES);
  return {head, tail, string};
}

static __device__ __forceinline__ const uint64_t* words_of_row(const FoldedValue& value, uint32_t row) {
  return reinterpret_cast<const uint64_t*>(value.data + row * static_cast<int64_t>(value.stride));
}

static __device__ __forceinline__ WideElement element_of_row(const FoldedValue& value, uint32_t row) {
  if (value.type == VALUE_STATE) return stored_element(value, words_of_row(value, row), value.second);
  switch (value.kind) {
    case VALUE_STRING: return string_element(value, row);
    case VALUE_DECIMAL: return {words_of_row(value, row)[0], words_of_row(value, row)[1], {0, 0, 0}};
    default: return {words_of_row(value, row)[0], element_of<uint32_t>(value.second, row), {0, 0, 0}};
  }
}

static __device__ __forceinline__ bool has_element(const FoldedValue& value, uint32_t row) {
  return value.type == VALUE_STATE ? words_of_row(value, row)[2] != 0 : !is_null_in(value, row);
}

// The first byte, the lowest, becomes the highest.
static __device__ __forceinline__ uint64_t reversed_bytes(uint64_t word) {
  const uint32_t low = __byte_perm(static_cast<uint32_t>(word), 0, 0x0123);
  const uint32_t high = __byte_perm(static_cast<uint32_t>(word >> 32), 0, 0x0123);
  return static_cast<uint64_t>(low) << 32 | high;
}

template <typename Number>
static __device__ __forceinline__ int order_of(Number left, Number right) {
  return left < right ? -1 : left > right ? 1 : 0;
}

// Words have zeros behind the bytes of a string, so of two strings one of which begins with the other, the lengths decide.
static __device__ int compare_strings(const KeyString& left, const KeyString& right) {
  const int32_t common = min(left.length, right.length);
  for (int32_t word = 0; word < (common + 7) / 8; ++word) {
    const uint64_t left_word = word_of_string(left, word);
    const uint64_t right_word = word_of_string(right, word);
    if (left_word != right_word) return order_of(reversed_bytes(left_word), reversed_bytes(right_word));
  }
  return order_of(left.length, right.length);
}

static __device__ __forceinline__ int compare_elements(const FoldedValue& value, const WideElement& left,
                                                       const WideElement& right) {
  if (value.kind == VALUE_STRING) return compare_strings(left.string, right.string);
  const bool is_decimal = value.kind == VALUE_DECIMAL;
  const int order = order_of(static_cast<int64_t>(is_decimal ? left.second : left.first),
                             static_cast<int64_t>(is_decimal ? right.second : right.first));
  if (order != 0) return order;
  return is_decimal ? order_of(left.first, right.first) : order_of(left.second, right.second);
}

// Whether an element is kept rather than one before it.
static __device__ __forceinline__ bool replaces(const FoldedValue& value, const WideElement& element,
                                                const WideElement& before) {
  switch (value.operation) {
    case OPERATION_WIDE_MIN: return compare_elements(value, element, before) < 0;
    case OPERATION_WIDE_MAX: return compare_elements(value, element, before) > 0;
    case OPERATION_WIDE_FIRST: return false;
    default: return true;
  }
}

// Which of two rows, or NO_ROW, is kept.
static __device__ __forceinline__ uint32_t chosen_of(const FoldedValue& value, uint32_t left, uint32_t right) {
  if (left == NO_ROW || right == NO_ROW || left == right) return min(left, right);
  const uint32_t before = min(left, right);
  const uint32_t behind = max(left, right);
  return replaces(value, element_of_row(value, behind), element_of_row(value, before)) ? behind : before;
}

static __device__ __forceinline__ void put_wide_result(const FoldedValue& value, int64_t row, const WideElement& element) {
  if (value.kind == VALUE_TIMESTAMP) {
    *slot_of<uint64_t>(value.output, row) = element.first;
    *slot_of<uint32_t>(value.second_output, row) = static_cast<uint32_t>(element.second);
    return;
  }
  *slot_of<uint64_t>(value.output, 2 * row) = element.first;
  *slot_of<uint64_t>(value.second_output, 2 * row) = element.second;
}

// Address of the tail in the result after the update; 0 if there is none.
static __device__ __forceinline__ uint64_t other_tail_of(const FoldedValue& value, int64_t key) {
  return value.output == 0 ? 0 : value.second_output + (2 * key + 1) * 2 * sizeof(uint64_t);
}

// The moves of all keys are written, so none is left of an earlier batch.
static __device__ __forceinline__ void put_move(const StateFoldArguments& arguments, const FoldedValue& value, int64_t key,
                                                uint64_t* words, const WideElement& element, bool is_replaced) {
  const bool is_long = is_replaced && element.string.length > INLINE_BYTES;
  *slot_of<StringMove>(arguments.moves, key * arguments.strings_of_key + value.string) = {
      element.string.address, element.string.chunks, reinterpret_cast<uint64_t>(words + 1), other_tail_of(value, key),
      is_long ? element.string.length : 0, element.string.length, 0, 0, 0};
}

// Rows are never taken back. What is folded is the number of the row that is kept.
struct WideFold {
  static __device__ __forceinline__ uint32_t read(const uint64_t*) { return NO_ROW; }
  static __device__ uint32_t by_thread(const StateFoldArguments& arguments, const FoldedValue& value, const Segment& segment,
                                       uint32_t chosen, int64_t) {
    for (uint32_t at = segment.first; is_in(arguments, segment, at); ++at) {
      const uint32_t row = row_at(arguments, at);
      if (has_element(value, row)) chosen = chosen_of(value, chosen, row);
    }
    return chosen;
  }
  static __device__ uint32_t by_warp(const StateFoldArguments& arguments, const FoldedValue& value, const Segment& segment,
                                     uint32_t chosen, int64_t) {
    for (uint32_t at = segment.first + lane_of_thread(); is_in(arguments, segment, at); at += WARP) {
      const uint32_t row = row_at(arguments, at);
      if (has_element(value, row)) chosen = chosen_of(value, chosen, row);
    }
    __syncwarp();
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
      const uint32_t other = __shfl_xor_sync(ALL_LANES, chosen, distance);
      chosen = chosen_of(value, chosen, other);
      __syncwarp();
    }
    return chosen;
  }
  static __device__ void put(const StateFoldArguments& arguments, const FoldedValue& value, const Segment& segment,
                             uint64_t* state, uint32_t chosen) {
    uint64_t* words = state + value.word;
    const int64_t key = element_of<uint32_t>(arguments.positions, segment.group);
    bool is_replaced = chosen != NO_ROW;
    WideElement element = {};
    if (is_replaced) {
      element = element_of_row(value, chosen);
      if (words[2] != 0) {
        const WideElement before = stored_element(value, words, arguments.strings);
        is_replaced = replaces(value, element, before) && compare_elements(value, element, before) != 0;
      }
    }
    if (is_replaced) {
      words[0] = element.first;
      words[1] = element.second;
      words[2] = 1;
      if (value.output != 0) {
        put_wide_result(value, 2 * key + 1, element);
        mark_changed(arguments, 2 * key, state);
      }
    }
    if (value.kind == VALUE_STRING) put_move(arguments, value, key, words, element, is_replaced);
  }
};

}  // namespace millrace

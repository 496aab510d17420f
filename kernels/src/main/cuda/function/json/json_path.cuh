// SPDX-License-Identifier: Apache-2.0
// Follows a path of members and indices through a JSON text, in one pass over the bytes.
//
// The text is read whole, as a value behind the one that is sought may be malformed, and as the last of several members
// of one name counts. A value that only the host reads as Jackson does, such as a number of more than 1000 bytes, makes
// the row undecided. The constant with the path is what JsonPath.constant writes.
#pragma once

#include "format/json_text.cuh"
#include "function/utf8.cuh"

namespace millrace {

constexpr int32_t MAX_JSON_STEPS = 16;  // Java repeats it
constexpr int32_t INDEX_STEP = -1;      // in place of the length of a member's name

// What Jackson may refuse.
constexpr int32_t MAX_NUMBER_BYTES = 1000;
constexpr int32_t MAX_NUMBER_EXPONENT = 9999;
constexpr int32_t MAX_NAME_BYTES = 50000;
constexpr int32_t MAX_STRING_BYTES = 20000000;

struct JsonSearch {
  RecordText json;
  bool is_json;
  bool is_undecided;  // the host must look
  int32_t root;     // the first byte of the whole value
  int32_t start;    // where the value begins that the path leads to; -1 if there is none yet
  int32_t end;
  int32_t steps;    // of the path; 0 without a path
  int32_t matched;  // steps that led here
  const char* path[MAX_JSON_STEPS];
  int32_t before[MAX_JSON_STEPS];  // elements before the one to which a step leads
};

__device__ inline int32_t constant_integer(const char* constant) {
  return static_cast<int32_t>(static_cast<uint32_t>(load_bytes(constant, 4)));
}

__device__ inline JsonSearch search_in(const char* bytes, int32_t length) {
  JsonSearch search;
  search.json = {TextCursor::over(reinterpret_cast<uint64_t>(bytes), 0, length), RECORD_VALID, 0};
  search.is_json = false;
  search.is_undecided = false;
  search.root = END_OF_TEXT;
  search.start = -1;
  search.end = -1;
  search.steps = 0;
  search.matched = 0;
  return search;
}

__device__ inline JsonSearch search_in(const char* bytes, int32_t length, const char* constant) {
  JsonSearch search = search_in(bytes, length);
  search.steps = constant[3];
  const char* step = constant + 4;
  for (int32_t i = 0; i < search.steps; ++i) {
    search.path[i] = step;
    const int32_t name = constant_integer(step);
    step += 4 + (name == INDEX_STEP ? 4 : name);
  }
  return search;
}

__device__ inline bool is_index(const JsonSearch& search, int32_t step) {
  return constant_integer(search.path[step]) == INDEX_STEP;
}

// How many elements an array has, at whose start the text is; 0 if it is malformed.
static __device__ __noinline__ int32_t count_elements(RecordText array) {
  int32_t elements;
  return skip_value(array, '[', elements) ? elements : 0;
}

// How many elements come before the one of a step. The text is at the start of the array.
__device__ inline int32_t elements_before(const JsonSearch& search, int32_t step) {
  const int32_t index = constant_integer(search.path[step] + 4);
  return index < 0 ? count_elements(search.json) + index : index;
}

// `depth` is the number of values around this one.
__device__ inline void begin_value(JsonSearch& search, int32_t depth, int32_t byte) {
  if (search.matched != depth) return;
  search.start = depth == search.steps ? search.json.text.at : -1;
  if (depth < search.steps && byte == '[' && is_index(search, depth)) {
    search.before[depth] = elements_before(search, depth);
  }
}

// Goes on to the value of a member, behind its name, or to an element; `depth` counts the object or array.
__device__ inline bool enter(JsonSearch& search, int32_t depth, bool in_object) {
  const int32_t step = depth - 1;
  search.matched = least(search.matched, step);
  const bool is_step = search.matched == step && step < search.steps && is_index(search, step) != in_object;
  if (!in_object) {
    search.matched += is_step && search.before[step]-- == 0;
    return true;
  }
  JsonString name;
  if (!read_name(search.json, name)) return false;
  search.is_undecided |= name.written_bytes > MAX_NAME_BYTES || (is_step && name.has_escapes);
  if (is_step && name.bytes == constant_integer(search.path[step])) {
    const char* bytes = reinterpret_cast<const char*>(search.json.text.words) + name.start;
    search.matched += equal(bytes, search.path[step] + 4, name.bytes);
  }
  return true;
}

// Whether what is behind the text's only number or literal ends it.
__device__ inline bool ends_root(JsonSearch& search, bool is_number) {
  const int32_t next = search.json.text.peek();
  if (is_number) return next == END_OF_TEXT || next == ' ' || next == '\n' || next == '\r' || next == '\t';
  search.is_undecided |= next >= 0x7f;
  const int32_t letter = (next | 0x20) - 'a';
  return next == END_OF_TEXT || !((letter >= 0 && letter < 26) || is_digit(next) || next == '_');
}

__device__ inline bool take_scalar(JsonSearch& search, int32_t byte, bool is_root) {
  RecordText& json = search.json;
  if (is_digit(byte) || byte == '-') {
    const int32_t start = json.text.at;
    NumberText number;
    if (!read_number(json.text, true, number)) return false;
    search.is_undecided |= json.text.at - start > MAX_NUMBER_BYTES || number.written_exponent > MAX_NUMBER_EXPONENT ||
                           number.written_exponent < -MAX_NUMBER_EXPONENT;
    return !is_root || ends_root(search, true);
  }
  const int32_t start = json.text.at;
  if (!skip_scalar(json, byte)) return false;
  search.is_undecided |= json.text.at - start > MAX_STRING_BYTES;
  return byte == '"' || !is_root || ends_root(search, false);
}

// Reads the value at the start of the text; false if it does not begin with a value.
__device__ inline bool read_value(JsonSearch& search) {
  uint64_t is_object[(JSON_DEPTH + 63) / 64];  // a bit for each value around this one
  TextCursor& text = search.json.text;
  int32_t depth = 0;
  search.root = skip_space(text);
  for (int32_t byte = search.root;; byte = skip_space(text)) {
    begin_value(search, depth, byte);
    if (byte == '{' || byte == '[') {
      if (depth == JSON_DEPTH) return false;
      const uint64_t bit = uint64_t{1} << (depth % 64);
      uint64_t& bits = is_object[depth / 64];
      bits = byte == '{' ? bits | bit : bits & ~bit;
      ++depth;
      ++text.at;
      if (skip_space(text) != (byte == '{' ? '}' : ']')) {
        if (!enter(search, depth, byte == '{')) return false;
        continue;
      }
      --depth;
      ++text.at;
    } else if (!take_scalar(search, byte, depth == 0)) {
      return false;
    }
    for (;;) {
      if (depth == search.steps && search.matched == depth) search.end = text.at;
      if (depth == 0) return true;
      const bool in_object = (is_object[(depth - 1) / 64] >> ((depth - 1) % 64) & 1) != 0;
      byte = skip_space(text);
      if (byte != ',' && byte != (in_object ? '}' : ']')) return false;
      ++text.at;
      if (byte == ',') {
        if (!enter(search, depth, in_object)) return false;
        break;
      }
      --depth;
      search.matched = least(search.matched, depth);
    }
  }
}

// Reads the text, by value, so that the search can stay in registers.
static __device__ __noinline__ JsonSearch read_text(JsonSearch search) {
  search.is_json = read_value(search);
  search.is_undecided |= !search.is_json && search.json.error == RECORD_NO_UTF8;
  return search;
}

// What a path leads to.
enum JsonOutcome : int32_t {
  JSON_VALUE,
  JSON_EMPTY,
  JSON_ERROR,
  JSON_UNDECIDED,  // the host must look
};

__device__ inline JsonOutcome nothing(const char* constant) {
  return constant[0] != 0 ? JSON_EMPTY : JSON_ERROR;
}

// Goes to the value to which the path leads, if there is one.
__device__ inline JsonOutcome find(JsonSearch& search, const char* constant) {
  search = read_text(search);
  if (search.is_undecided) return JSON_UNDECIDED;
  if (search.is_json && search.root == 'n') return JSON_ERROR;
  search.json.text.at = search.start;
  return search.is_json && search.start >= 0 && search.json.text.peek() != 'n' ? JSON_VALUE : nothing(constant);
}

}  // namespace millrace

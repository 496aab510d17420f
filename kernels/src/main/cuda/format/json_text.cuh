// SPDX-License-Identifier: Apache-2.0
// JSON text (RFC 8259): white space, strings, and values that nobody asked for.
#pragma once

#include "record_text.cuh"
#include "text_base64.cuh"
#include "text_number.cuh"
#include "text_utf8.cuh"

namespace millrace {

constexpr int32_t JSON_DEPTH = 1000;  // of values in values that are skipped
constexpr int32_t REPLACEMENT = '?';  // of a surrogate without its other half, as in Java
constexpr int32_t NO_CODE_POINT = -1;

static __device__ __forceinline__ int32_t skip_space(TextCursor& text) {
  int32_t byte = text.peek();
  while (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t') {
    ++text.at;
    byte = text.peek();
  }
  return byte;
}

// A string as it is written: its bytes without the quotes, and how many there are with escapes resolved.
struct JsonString {
  int32_t start;
  int32_t written_bytes;
  int32_t bytes;
  bool has_escapes;
};

static __device__ __forceinline__ int32_t read_hex(TextCursor& text) {
  int32_t value = 0;
  for (int32_t i = 0; i < 4; ++i) {
    const int32_t byte = text.next();
    const int32_t letter = (byte | 0x20) - 'a';
    if (is_digit(byte)) {
      value = value * 16 + byte - '0';
    } else if (byte != END_OF_TEXT && letter >= 0 && letter < 6) {
      value = value * 16 + letter + 10;
    } else {
      return NO_CODE_POINT;
    }
  }
  return value;
}

// The code point of an escape, behind its backslash; NO_CODE_POINT if there is none.
static __device__ inline int32_t read_escape(TextCursor& text) {
  switch (text.next()) {
    case '"': return '"';
    case '\\': return '\\';
    case '/': return '/';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': break;
    default: return NO_CODE_POINT;
  }
  const int32_t first = read_hex(text);
  if (first < 0xd800 || first > 0xdfff) return first;
  const int32_t behind = text.at;
  if (first < 0xdc00 && text.take('\\') && text.take('u')) {
    const int32_t second = read_hex(text);
    if (second >= 0xdc00 && second <= 0xdfff) return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }
  text.at = behind;
  return REPLACEMENT;
}

static __device__ __forceinline__ int32_t utf8_bytes(int32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

// Reads a string behind its opening quote, up to its closing one.
static __device__ inline bool read_string(RecordText& json, JsonString& string) {
  TextCursor& text = json.text;
  string = {text.at, 0, 0, false};
  int32_t saved = 0;  // bytes that escapes take and their characters do not
  for (;;) {
    if (text.at >= text.end) return json.fail(RECORD_NO_JSON);
    const uint64_t word = text.word_at(text.at);
    uint64_t special = bytes_equal(word, '"') | bytes_equal(word, '\\') | control_bytes(word) | (word & NOT_ASCII);
    special &= ~uint64_t{0} << (text.at % WORD_BYTES * 8);
    text.at = text.at / WORD_BYTES * WORD_BYTES + (special == 0 ? WORD_BYTES : bytes_below(special));
    if (special == 0) continue;
    if (text.at >= text.end) return json.fail(RECORD_NO_JSON);
    const int32_t start = text.at;
    const int32_t byte = text.peek();
    if (byte == '"') {
      string.written_bytes = start - string.start;
      string.bytes = string.written_bytes - saved;
      ++text.at;
      return true;
    }
    if (byte == '\\') {
      ++text.at;
      const int32_t code_point = read_escape(text);
      if (code_point == NO_CODE_POINT) return json.fail(RECORD_NO_JSON);
      saved += text.at - start - utf8_bytes(code_point);
      string.has_escapes = true;
    } else if (byte < ' ') {
      return json.fail(RECORD_NO_JSON);
    } else if (!skip_utf8(text)) {
      text.at = start;
      return json.fail(RECORD_NO_UTF8);
    }
  }
}

// Writes a code point in UTF-8; gives how many bytes it has.
static __device__ inline int32_t put_code_point(int32_t code_point, char* target) {
  const int32_t width = utf8_bytes(code_point);
  if (width == 1) target[0] = static_cast<char>(code_point);
  for (int32_t j = width - 1, rest = code_point; width > 1 && j >= 0; --j, rest >>= 6) {
    target[j] = static_cast<char>(j > 0 ? 0x80 | (rest & 0x3f) : (0xf00 >> width & 0xff) | rest);
  }
  return width;
}

// Writes the bytes of a string with its escapes resolved. The cursor is at its first byte.
static __device__ inline void resolve_escapes(TextCursor& text, int32_t bytes, char* target) {
  for (int32_t i = 0; i < bytes;) {
    const int32_t byte = text.next();
    if (byte == '\\') {
      i += put_code_point(read_escape(text), target + i);
    } else {
      target[i++] = static_cast<char>(byte);
    }
  }
}

constexpr uint64_t WORD_TRUE = 0x65757274;
constexpr uint64_t WORD_FALSE = 0x65736c6166;
constexpr uint64_t WORD_NULL = 0x6c6c756e;

// Skips a string, a number or a literal.
static __device__ inline bool skip_scalar(RecordText& json, int32_t byte) {
  JsonString string;
  NumberText number;
  bool is_valid;
  switch (byte) {
    case '"': ++json.text.at; return read_string(json, string);
    case 't': is_valid = json.text.take_word(WORD_TRUE, 4); break;
    case 'f': is_valid = json.text.take_word(WORD_FALSE, 5); break;
    case 'n': is_valid = json.text.take_word(WORD_NULL, 4); break;
    default: is_valid = (is_digit(byte) || byte == '-') && read_number(json.text, true, number);
  }
  return is_valid || json.fail(RECORD_NO_JSON);
}

// Reads the name of a member, and takes the colon.
static __device__ inline bool read_name(RecordText& json, JsonString& name) {
  if (skip_space(json.text) != '"') return json.fail(RECORD_NO_JSON);
  ++json.text.at;
  if (!read_string(json, name)) return false;
  if (skip_space(json.text) != ':') return json.fail(RECORD_NO_JSON);
  ++json.text.at;
  return true;
}

static __device__ inline bool skip_name(RecordText& json) {
  JsonString name;
  return read_name(json, name);
}

static __device__ __forceinline__ int32_t next_character(TextCursor& text) {
  const int32_t byte = text.next();
  return byte == '\\' ? read_escape(text) : byte;
}

constexpr int32_t NO_BYTES = -1;

// The bytes that a string stands for in Base64; NO_BYTES if it is not Base64 with padding.
static __device__ inline int32_t base64_bytes(const RecordText& json, const JsonString& string) {
  TextCursor text = json.text;
  text.at = string.start;
  text.end = string.start + string.written_bytes;
  Base64Text base64 = {};
  while (text.at < text.end) {
    if (!base64.add(next_character(text))) return NO_BYTES;
  }
  return base64.is_complete() ? base64.bytes() : NO_BYTES;
}

// Writes the bytes that a string of Base64 stands for. The cursor is at its first byte.
static __device__ inline void decode_base64(TextCursor& text, int32_t bytes, char* target) {
  uint32_t word = 0;
  int32_t bits = 0;
  for (int32_t i = 0; i < bytes;) {
    word = word << 6 | static_cast<uint32_t>(base64_digit(next_character(text)));
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      target[i++] = static_cast<char>(word >> bits);
    }
  }
}

// Skips a value with all values in it, and counts the elements or members that it has itself. `byte` is its first one.
static __device__ inline bool skip_value(RecordText& json, int32_t byte, int32_t& elements) {
  elements = 0;
  uint64_t is_object[(JSON_DEPTH + 63) / 64];  // a bit for each value around this one
  int32_t depth = 0;
  for (;; byte = skip_space(json.text)) {
    if (byte == '{' || byte == '[') {
      if (depth == JSON_DEPTH) return json.fail(RECORD_TOO_DEEP);
      const uint64_t bit = uint64_t{1} << (depth % 64);
      uint64_t& bits = is_object[depth / 64];
      bits = byte == '{' ? bits | bit : bits & ~bit;
      ++depth;
      ++json.text.at;
      if (skip_space(json.text) != (byte == '{' ? '}' : ']')) {
        if (depth == 1) elements = 1;
        if (byte == '{' && !skip_name(json)) return false;
        continue;
      }
      --depth;
      ++json.text.at;
    } else if (!skip_scalar(json, byte)) {
      return false;
    }
    for (;;) {
      if (depth == 0) return true;
      const bool in_object = (is_object[(depth - 1) / 64] >> ((depth - 1) % 64) & 1) != 0;
      byte = skip_space(json.text);
      if (byte != ',' && byte != (in_object ? '}' : ']')) return json.fail(RECORD_NO_JSON);
      ++json.text.at;
      if (byte == ',') {
        if (depth == 1) ++elements;
        if (in_object && !skip_name(json)) return false;
        break;
      }
      --depth;
    }
  }
}

}  // namespace millrace

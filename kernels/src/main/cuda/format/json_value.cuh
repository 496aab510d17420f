// SPDX-License-Identifier: Apache-2.0
// The members of a JSON object to the columns of a row.
#pragma once

#include "common/element.cuh"
#include "json_text.cuh"
#include "text_time.cuh"

namespace millrace {

constexpr int32_t LONGEST_SCALAR = 64;  // bytes of a number or time in a string with escapes
constexpr uint32_t HAS_ESCAPES = 0x80000000u;

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

struct JsonRow {
  JsonText json;
  int32_t row;
  FieldSet seen;
  FieldSet present;
  bool is_undecided;
};

template <typename Value>
static __device__ __forceinline__ void put(uint64_t values, int32_t row, Value value) {
  reinterpret_cast<Value*>(values)[row] = value;
}

static __device__ __forceinline__ void put_low_bytes(uint64_t values, int32_t row, int32_t width, uint64_t bits) {
  if (width == 8) {
    put<uint64_t>(values, row, bits);
  } else if (width == 4) {
    put<uint32_t>(values, row, static_cast<uint32_t>(bits));
  } else if (width == 2) {
    put<uint16_t>(values, row, static_cast<uint16_t>(bits));
  } else {
    put<uint8_t>(values, row, static_cast<uint8_t>(bits));
  }
}

static __device__ __forceinline__ const JsonField& field_of(const JsonArguments& arguments, int32_t field) {
  return reinterpret_cast<const JsonField*>(arguments.fields)[field];
}

static __device__ __forceinline__ const uint64_t* name_of(const JsonArguments& arguments, const JsonField& field) {
  return reinterpret_cast<const uint64_t*>(arguments.fields + field.name);
}

// Writes the bytes of a string with its escapes resolved. The cursor is at its first byte.
static __device__ inline void resolve_escapes(TextCursor& text, int32_t bytes, char* target) {
  for (int32_t i = 0; i < bytes;) {
    const int32_t byte = text.next();
    if (byte != '\\') {
      target[i++] = static_cast<char>(byte);
      continue;
    }
    const int32_t code_point = read_escape(text);
    const int32_t width = utf8_bytes(code_point);
    if (width == 1) target[i] = static_cast<char>(code_point);
    for (int32_t j = width - 1, rest = code_point; width > 1 && j >= 0; --j, rest >>= 6) {
      target[i + j] = static_cast<char>(j > 0 ? 0x80 | (rest & 0x3f) : (0xf00 >> width & 0xff) | rest);
    }
    i += width;
  }
}

// The text of a string, without escapes: `copy` has it if there were some.
static __device__ inline bool text_of_string(JsonRow& row, const JsonString& string, uint64_t* copy, TextCursor& text) {
  text = row.json.text;
  text.at = string.start;
  text.end = string.start + string.written_bytes;
  if (!string.has_escapes) return true;
  if (string.bytes > LONGEST_SCALAR) return false;
  resolve_escapes(text, string.bytes, reinterpret_cast<char*>(copy));
  text = TextCursor::over(reinterpret_cast<uint64_t>(copy), 0, string.bytes);
  return true;
}

static __device__ inline bool put_float(const JsonArguments& arguments, JsonRow& row, const JsonField& field,
                                        const JsonColumn& column, const NumberText& number) {
  const uint64_t* powers = reinterpret_cast<const uint64_t*>(arguments.powers);
  uint64_t bits;
  const FloatOutcome outcome = float_of(powers, float_format(field.width), number, bits);
  if (outcome == FLOAT_TOO_LARGE) return row.json.fail(JSON_INVALID_VALUE);
  row.is_undecided |= outcome == FLOAT_UNDECIDED;
  put_low_bytes(column.values, row.row, field.width, bits);
  return true;
}

static __device__ inline bool put_decimal(JsonRow& row, const JsonField& field, const JsonColumn& column,
                                          const TextCursor& text, const NumberText& number) {
  Wide128 value;
  if (!decimal_of(text, number, field.precision, field.scale, value)) return row.json.fail(JSON_INVALID_VALUE);
  if (field.width == 16) {
    put<uint64_t>(column.values, 2 * row.row, value.low);
    put<uint64_t>(column.values, 2 * row.row + 1, value.high);
  } else {
    put_low_bytes(column.values, row.row, field.width, value.low);
  }
  return true;
}

static __device__ inline bool read_number_value(const JsonArguments& arguments, JsonRow& row, const JsonField& field,
                                                const JsonColumn& column) {
  NumberText number;
  if (!read_number(row.json.text, true, number)) return row.json.fail(JSON_MALFORMED);
  if (field.type == JSON_FLOAT) return put_float(arguments, row, field, column, number);
  if (field.type == JSON_DECIMAL) return put_decimal(row, field, column, row.json.text, number);
  if (field.type != JSON_INTEGER || !number.is_integer) return row.json.fail(JSON_WRONG_TYPE);
  int64_t value;
  if (!integer_of(number, field.width, value)) return row.json.fail(JSON_INVALID_VALUE);
  put_low_bytes(column.values, row.row, field.width, static_cast<uint64_t>(value));
  return true;
}

constexpr uint64_t WORD_NAN = 0x4e614e;
constexpr uint64_t WORD_INFINITY = 0x7974696e69666e49;

// NaN and the infinities.
static __device__ inline bool put_not_finite(JsonRow& row, const JsonField& field, const JsonColumn& column, TextCursor& text) {
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

static __device__ inline bool put_timestamp(JsonRow& row, const JsonField& field, const JsonColumn& column, TextCursor& text) {
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

// Reads the text of a string into a field that is not a string; false if it is not a value of the field's type.
static __device__ inline bool put_text(JsonRow& row, const JsonField& field, const JsonColumn& column, TextCursor& text) {
  NumberText number;
  int32_t days;
  TimeOfDay time;
  switch (field.type) {
    case JSON_FLOAT:
      return put_not_finite(row, field, column, text);
    case JSON_DECIMAL: {
      return read_number(text, false, number) && put_decimal(row, field, column, text, number);
    }
    case JSON_DATE:
      if (!read_date(text, days)) return false;
      put<int32_t>(column.values, row.row, days);
      return true;
    case JSON_TIME:
      if (!read_time(text, time)) return false;
      put<int32_t>(column.values, row.row, time.millis);
      return true;
    default:
      return put_timestamp(row, field, column, text);
  }
}

static __device__ inline bool read_string_value(JsonRow& row, const JsonField& field, const JsonColumn& column) {
  JsonString string;
  if (!read_string(row.json, string)) return false;
  if (field.type == JSON_STRING) {
    // The cursor counts from an aligned word.
    put<uint32_t>(column.values, row.row, static_cast<uint32_t>(string.start) | (string.has_escapes ? HAS_ESCAPES : 0));
    put<int32_t>(column.second, row.row, string.bytes);
    return true;
  }
  if (field.type == JSON_OBJECT || field.type == JSON_BOOL || field.type == JSON_INTEGER) {
    return row.json.fail(JSON_WRONG_TYPE);
  }
  uint64_t copy[LONGEST_SCALAR / sizeof(uint64_t)];
  TextCursor text;
  const bool is_valid =
      text_of_string(row, string, copy, text) && put_text(row, field, column, text) && text.at == text.end;
  if (is_valid) return true;
  return row.json.fail(field.type == JSON_FLOAT ? JSON_WRONG_TYPE : JSON_INVALID_VALUE);
}

// Reads the value of a field that is not an object. `byte` is its first one.
static __device__ inline bool read_scalar(const JsonArguments& arguments, JsonRow& row, int32_t number, int32_t byte) {
  const JsonField& field = field_of(arguments, number);
  const JsonColumn& column = arguments.column[number];
  TextCursor& text = row.json.text;
  row.json.field = number;
  if (byte == '"') {
    ++text.at;
    if (!read_string_value(row, field, column)) return false;
  } else if (is_digit(byte) || byte == '-') {
    if (!read_number_value(arguments, row, field, column)) return false;
  } else if (byte == 'n') {
    if (!text.take_word(WORD_NULL, 4)) return row.json.fail(JSON_MALFORMED);
    if (field.is_required) return row.json.fail(JSON_UNEXPECTED_NULL);
    return true;
  } else if (byte == 't' || byte == 'f') {
    if (!(byte == 't' ? text.take_word(WORD_TRUE, 4) : text.take_word(WORD_FALSE, 5))) return row.json.fail(JSON_MALFORMED);
    if (field.type != JSON_BOOL) return row.json.fail(JSON_WRONG_TYPE);
    put<uint8_t>(column.values, row.row, byte == 't');
  } else {
    return row.json.fail(byte == '{' || byte == '[' ? JSON_WRONG_TYPE : JSON_MALFORMED);
  }
  row.present.add(number);
  return true;
}

constexpr int32_t NO_FIELD = -1;

static __device__ inline bool equal_names(const JsonArguments& arguments, JsonRow& row, const JsonField& field,
                                          const JsonString& string) {
  if (field.name_bytes != string.bytes) return false;
  TextCursor text = row.json.text;
  text.at = string.start;
  text.end = string.start + string.written_bytes;
  const uint64_t* name = name_of(arguments, field);
  if (!string.has_escapes) return text.starts_with(name, string.bytes);
  for (int32_t i = 0; i < string.bytes;) {
    uint64_t word = 0;
    const int32_t byte = text.next();
    int32_t width = 1;
    if (byte == '\\') {
      TextCursor escape = text;
      const int32_t code_point = read_escape(text);
      width = utf8_bytes(code_point);
      --escape.at;
      resolve_escapes(escape, width, reinterpret_cast<char*>(&word));
    } else {
      word = static_cast<uint64_t>(byte);
    }
    for (int32_t j = 0; j < width; ++j, ++i) {
      if ((word >> (j * 8) & 0xff) != (name[i / WORD_BYTES] >> (i % WORD_BYTES * 8) & 0xff)) return false;
    }
  }
  return true;
}

// Reads the name of a member behind its opening quote, and which child of `object` it is; `expected` is looked at first, since
// most records have their members in one order. False if it is not a name.
static __device__ inline bool read_name(const JsonArguments& arguments, JsonRow& row, const JsonField& object, int32_t expected,
                                        int32_t& child) {
  child = NO_FIELD;
  const int32_t last = object.first_child + object.children;
  if (expected < last) {
    const JsonField& field = field_of(arguments, expected);
    // With the quote behind it.
    if (field.has_escapes == 0 && row.json.text.starts_with(name_of(arguments, field), field.name_bytes + 1)) {
      row.json.text.at += field.name_bytes + 1;
      child = expected;
      return true;
    }
  }
  JsonString string;
  if (!read_string(row.json, string)) return false;
  for (int32_t i = object.first_child; i < last; ++i) {
    if (equal_names(arguments, row, field_of(arguments, i), string)) {
      child = i;
      return true;
    }
  }
  return true;
}

static __device__ inline bool has_required(const JsonArguments& arguments, JsonRow& row, const JsonField& object) {
  for (int32_t i = object.first_child; i < object.first_child + object.children; ++i) {
    if (field_of(arguments, i).is_required && !row.seen.has(i)) {
      row.json.field = i;
      return row.json.fail(JSON_MISSING);
    }
  }
  return true;
}

// Reads the members of the record, and of the objects in it that are fields. The cursor is behind its first brace.
static __device__ inline bool read_members(const JsonArguments& arguments, JsonRow& row) {
  JsonText& json = row.json;
  int32_t object = 0;
  int32_t expected = field_of(arguments, 0).first_child;
  bool is_first = true;
  for (;;) {
    int32_t byte = skip_space(json.text);
    ++json.text.at;
    if (byte == '}' ) {
      if (!has_required(arguments, row, field_of(arguments, object))) return false;
      if (object == 0) return true;
      expected = object + 1;
      object = field_of(arguments, object).parent;
      is_first = false;
      continue;
    }
    if (!is_first) {
      if (byte != ',') return json.fail(JSON_MALFORMED);
      byte = skip_space(json.text);
      ++json.text.at;
    }
    is_first = false;
    int32_t child;
    if (byte != '"') return json.fail(JSON_MALFORMED);
    if (!read_name(arguments, row, field_of(arguments, object), expected, child)) return false;
    if (skip_space(json.text) != ':') return json.fail(JSON_MALFORMED);
    ++json.text.at;
    byte = skip_space(json.text);
    if (child == NO_FIELD) {
      if (!skip_value(json, byte)) return false;
      continue;
    }
    expected = child + 1;
    json.field = child;
    if (row.seen.has(child)) return json.fail(JSON_DUPLICATE);
    row.seen.add(child);
    if (byte == '{' && field_of(arguments, child).type == JSON_OBJECT) {
      ++json.text.at;
      row.present.add(child);
      object = child;
      expected = field_of(arguments, child).first_child;
      is_first = true;
    } else if (!read_scalar(arguments, row, child, byte)) {
      return false;
    }
  }
}

// Reads a record; false if it is not a row.
static __device__ inline bool read_record(const JsonArguments& arguments, JsonRow& row) {
  JsonText& json = row.json;
  const int32_t byte = skip_space(json.text);
  if (byte == END_OF_TEXT) return json.fail(JSON_BLANK);
  if (byte != '{') {
    if (!skip_value(json, byte)) return false;
    return json.fail(skip_space(json.text) == END_OF_TEXT ? JSON_NO_OBJECT : JSON_MORE);
  }
  ++json.text.at;
  row.present.add(0);
  if (!read_members(arguments, row)) return false;
  if (skip_space(json.text) != END_OF_TEXT) return json.fail(JSON_MORE);
  if (row.is_undecided) json.error = JSON_UNDECIDED;
  return true;
}

}  // namespace millrace

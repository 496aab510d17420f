// SPDX-License-Identifier: Apache-2.0
// The members of a JSON object, or an element of a list, to the columns of a row.
//
// In the records of changes, a template parameter, booleans and numbers may be strings, a record may have a further text, and a list may
// stand for an object.
#pragma once

#include "json_text.cuh"
#include "record_value.cuh"

namespace millrace {

constexpr int32_t LONGEST_SCALAR = 64;  // bytes of a number or time in a string with escapes
constexpr int32_t ELEMENT = 1;          // the field of elements of lists

// What Java writes behind the fields: this, and the names in words.
struct JsonPlan {
  int32_t is_element;  // whether the records are elements of lists
  int32_t unused;
};

static __device__ __forceinline__ const JsonPlan& json_plan_of(const RecordArguments& arguments) {
  return *reinterpret_cast<const JsonPlan*>(arguments.fields + arguments.field_count * sizeof(RecordField));
}

static __device__ __forceinline__ const uint64_t* name_of(const RecordArguments& arguments, const RecordField& field) {
  return reinterpret_cast<const uint64_t*>(arguments.fields + field.name);
}

// The text of a string, without escapes: `copy` has it if there were some.
static __device__ inline bool text_of_string(RecordRow& row, const JsonString& string, uint64_t* copy, TextCursor& text) {
  text = row.record.text;
  text.at = string.start;
  text.end = string.start + string.written_bytes;
  if (!string.has_escapes) return true;
  if (string.bytes > LONGEST_SCALAR) return false;
  resolve_escapes(text, string.bytes, reinterpret_cast<char*>(copy));
  text = TextCursor::over(reinterpret_cast<uint64_t>(copy), 0, string.bytes);
  return true;
}

static __device__ inline bool read_number_value(const RecordArguments& arguments, RecordRow& row, const RecordField& field,
                                                const RecordColumn& column) {
  NumberText number;
  if (!read_number(row.record.text, true, number)) return row.record.fail(RECORD_NO_JSON);
  if (field.type == FIELD_FLOAT) return put_float(arguments, row, field, column, number);
  if (field.type == FIELD_DECIMAL) return put_decimal(row, field, column, row.record.text, number);
  if (field.type != FIELD_INTEGER || !number.is_integer) return row.record.fail(RECORD_WRONG_TYPE);
  int64_t value;
  if (!integer_of(number, field.width, value)) return row.record.fail(RECORD_INVALID_VALUE);
  put_low_bytes(column.values, row.row, field.width, static_cast<uint64_t>(value));
  return true;
}

template <bool IS_CHANGE>
static __device__ inline bool read_string_value(const RecordArguments& arguments, RecordRow& row, const RecordField& field,
                                                const RecordColumn& column) {
  JsonString string;
  if (!read_string(row.record, string)) return false;
  if (field.type == FIELD_STRING) {
    const bool is_binary = field.scale != 0;
    const int32_t bytes = is_binary ? base64_bytes(row.record, string) : string.bytes;
    if (bytes == NO_BYTES) return row.record.fail(RECORD_INVALID_VALUE);
    // The cursor counts from an aligned word.
    put<uint32_t>(column.values, row.row, static_cast<uint32_t>(string.start) | (is_binary || string.has_escapes ? HAS_ESCAPES : 0));
    put<int32_t>(column.second, row.row, bytes);
    return true;
  }
  if (field.type == FIELD_OBJECT || field.type == FIELD_LIST) return row.record.fail(RECORD_WRONG_TYPE);
  if (!IS_CHANGE && (field.type == FIELD_BOOL || field.type == FIELD_INTEGER)) return row.record.fail(RECORD_WRONG_TYPE);
  uint64_t copy[LONGEST_SCALAR / sizeof(uint64_t)];
  TextCursor text;
  const bool is_valid =
      text_of_string(row, string, copy, text) &&
      (IS_CHANGE ? put_scalar(arguments, row, field, column, text) : put_text(row, field, column, text)) && text.at == text.end;
  if (is_valid) return true;
  return row.record.fail(!IS_CHANGE && field.type == FIELD_FLOAT ? RECORD_WRONG_TYPE : RECORD_INVALID_VALUE);
}

// Reads the value of a field that is neither an object nor a list. `byte` is its first one.
template <bool IS_CHANGE>
static __device__ inline bool read_scalar(const RecordArguments& arguments, RecordRow& row, int32_t number, int32_t byte) {
  const RecordField& field = field_of(arguments, number);
  const RecordColumn& column = arguments.column[number];
  TextCursor& text = row.record.text;
  row.record.field = number;
  if (byte == '"') {
    ++text.at;
    if (!read_string_value<IS_CHANGE>(arguments, row, field, column)) return false;
  } else if (is_digit(byte) || byte == '-') {
    if (!read_number_value(arguments, row, field, column)) return false;
  } else if (byte == 'n') {
    if (!text.take_word(WORD_NULL, 4)) return row.record.fail(RECORD_NO_JSON);
    if (field.is_required) return row.record.fail(RECORD_UNEXPECTED_NULL);
    return true;
  } else if (byte == 't' || byte == 'f') {
    if (!(byte == 't' ? text.take_word(WORD_TRUE, 4) : text.take_word(WORD_FALSE, 5))) return row.record.fail(RECORD_NO_JSON);
    if (field.type != FIELD_BOOL) return row.record.fail(RECORD_WRONG_TYPE);
    put<uint8_t>(column.values, row.row, byte == 't');
  } else {
    return row.record.fail(byte == '{' || byte == '[' ? RECORD_WRONG_TYPE : RECORD_NO_JSON);
  }
  row.present.add(number);
  return true;
}

constexpr int32_t NO_FIELD = -1;

static __device__ inline bool equal_names(const RecordArguments& arguments, RecordRow& row, const RecordField& field,
                                          const JsonString& string) {
  if (field.name_bytes != string.bytes) return false;
  TextCursor text = row.record.text;
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
static __device__ inline bool read_name(const RecordArguments& arguments, RecordRow& row, const RecordField& object, int32_t expected,
                                        int32_t& child) {
  child = NO_FIELD;
  const int32_t last = object.first_child + object.children;
  if (expected < last) {
    const RecordField& field = field_of(arguments, expected);
    // With the quote behind it.
    if (field.has_escapes == 0 && row.record.text.starts_with(name_of(arguments, field), field.name_bytes + 1)) {
      row.record.text.at += field.name_bytes + 1;
      child = expected;
      return true;
    }
  }
  JsonString string;
  if (!read_string(row.record, string)) return false;
  for (int32_t i = object.first_child; i < last; ++i) {
    if (equal_names(arguments, row, field_of(arguments, i), string)) {
      child = i;
      return true;
    }
  }
  return true;
}

static __device__ inline bool has_required(const RecordArguments& arguments, RecordRow& row, const RecordField& object) {
  for (int32_t i = object.first_child; i < object.first_child + object.children; ++i) {
    if (field_of(arguments, i).is_required && !row.seen.has(i)) {
      row.record.field = i;
      return row.record.fail(RECORD_MISSING);
    }
  }
  return true;
}

// Reads the name of a member, behind its opening quote, and goes on to its value. False if it is not a name with a colon behind it.
static __device__ inline bool read_member_name(const RecordArguments& arguments, RecordRow& row, int32_t object, int32_t expected,
                                               int32_t& child) {
  RecordText& json = row.record;
  if (!read_name(arguments, row, field_of(arguments, object), expected, child)) return false;
  if (skip_space(json.text) != ':') return json.fail(RECORD_NO_JSON);
  ++json.text.at;
  return true;
}

// Reads the members of the record, and of the objects in it that are fields, behind its first brace; or the value that an element of
// a list is. Members that are `given` are skipped. If the text is partial, members of the record may be missing.
template <bool IS_CHANGE>
static __device__ inline bool read_fields(const RecordArguments& arguments, RecordRow& row, bool is_element, const FieldSet& given,
                                          bool is_partial) {
  RecordText& json = row.record;
  int32_t object = 0;
  int32_t expected = field_of(arguments, 0).first_child;
  bool is_first = true;
  for (bool is_value = is_element;; is_value = false) {
    int32_t byte = skip_space(json.text);
    int32_t child = ELEMENT;
    if (!is_value) {
      ++json.text.at;
      if (byte == '}') {
        const bool may_miss = IS_CHANGE && is_partial && object == 0;
        if (!may_miss && !has_required(arguments, row, field_of(arguments, object))) return false;
        if (object == (is_element ? ELEMENT : 0)) return true;
        expected = object + 1;
        object = field_of(arguments, object).parent;
        is_first = false;
        continue;
      }
      if (!is_first) {
        if (byte != ',') return json.fail(RECORD_NO_JSON);
        byte = skip_space(json.text);
        ++json.text.at;
      }
      is_first = false;
      if (byte != '"') return json.fail(RECORD_NO_JSON);
      if (!read_member_name(arguments, row, object, expected, child)) return false;
      byte = skip_space(json.text);
      if (IS_CHANGE && child != NO_FIELD && given.has(child)) child = NO_FIELD;
      if (child != NO_FIELD) {
        expected = child + 1;
        json.field = child;
        if (row.seen.has(child)) return json.fail(RECORD_DUPLICATE);
        row.seen.add(child);
      }
    }
    const int32_t type = child == NO_FIELD ? NO_FIELD : field_of(arguments, child).type;
    const bool is_list = type == FIELD_LIST && byte == (IS_CHANGE && field_of(arguments, child).scale != 0 ? '{' : '[');
    if (byte == '{' && type == FIELD_OBJECT) {
      ++json.text.at;
      row.present.add(child);
      object = child;
      expected = field_of(arguments, child).first_child;
      is_first = true;
      continue;
    }
    if (type == NO_FIELD || is_list) {
      const int32_t start = json.text.at;
      int32_t elements;
      if (!skip_value(json, byte, elements)) return false;
      if (is_list) {
        put<int64_t>(arguments.column[child].values, row.row, start);
        put<int32_t>(arguments.column[child].second, row.row, IS_CHANGE && byte == '{' ? 1 : elements);
        row.present.add(child);
      }
    } else if (!read_scalar<IS_CHANGE>(arguments, row, child, byte)) {
      return false;
    }
    if (is_element && object == 0) return true;
  }
}

// Reads a text of a record, or an element of a list; false if it is not a row.
template <bool IS_CHANGE>
static __device__ inline bool read_text(const RecordArguments& arguments, RecordRow& row, const FieldSet& given, bool is_partial) {
  const bool is_element = json_plan_of(arguments).is_element != 0;
  RecordText& json = row.record;
  const int32_t byte = skip_space(json.text);
  if (byte == END_OF_TEXT) return json.fail(RECORD_BLANK);
  if (is_element) {
    json.field = ELEMENT;
  } else if (byte == '{') {
    ++json.text.at;
  } else {
    int32_t elements;
    if (!skip_value(json, byte, elements)) return false;
    return json.fail(skip_space(json.text) == END_OF_TEXT ? RECORD_NO_OBJECT : RECORD_MORE);
  }
  row.present.add(0);
  if (!read_fields<IS_CHANGE>(arguments, row, is_element, given, is_partial)) return false;
  return skip_space(json.text) == END_OF_TEXT || json.fail(RECORD_MORE);
}

constexpr int32_t NO_TEXT = -1;

// Reads a record, or an element of a list; false if it is not a row. Members that are not in the text of a record are those of its
// further text.
template <bool IS_CHANGE>
static __device__ inline bool read_record(const RecordArguments& arguments, RecordRow& row) {
  FieldSet given = {};
  int32_t other = IS_CHANGE && arguments.others != 0 ? element_of<int32_t>(arguments.others, row.row) : NO_TEXT;
  for (;;) {
    if (!read_text<IS_CHANGE>(arguments, row, given, other >= 0)) return false;
    if (!IS_CHANGE || other < 0) break;
    given = row.seen;
    row.record.text = TextCursor::over(arguments.bytes, other, element_of<int32_t>(arguments.other_ends, row.row));
    other = NO_TEXT;
  }
  if (row.is_undecided) row.record.error = RECORD_UNDECIDED;
  return true;
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// Writes JSON as Jackson does: without white space, the members of objects in the order of their names, and with no
// more escapes than are needed. Of an object, the next name is found by reading all names again, as there is no memory
// to sort them.
#pragma once

#include "json_path.cuh"

namespace millrace {

constexpr int32_t MAX_WRITTEN_DEPTH = 16;  // deeper values are left to the host

struct JsonWriter {
  char* bytes;
  int32_t length;

  __device__ inline void append(char byte) { bytes[length++] = byte; }

  __device__ inline void append(const char* from, int32_t count) {
    copy_mapped(bytes + length, from, count, [](uint64_t word) { return word; });
    length += count;
  }
};

__device__ inline char hexadecimal(int32_t digit) {
  return static_cast<char>(digit < 10 ? '0' + digit : 'A' + digit - 10);
}

// The letter of a character's escape; 0 if it has none.
__device__ inline char escape_letter(int32_t code_point) {
  switch (code_point) {
    case '"':
    case '\\': return static_cast<char>(code_point);
    case '\b': return 'b';
    case '\t': return 't';
    case '\n': return 'n';
    case '\f': return 'f';
    case '\r': return 'r';
    default: return 0;
  }
}

// Writes an ASCII character of a string.
__device__ inline void write_character(JsonWriter& writer, int32_t byte) {
  const char letter = escape_letter(byte);
  if (letter == 0 && byte >= ' ') {
    writer.append(static_cast<char>(byte));
    return;
  }
  writer.append('\\');
  if (letter != 0) {
    writer.append(letter);
    return;
  }
  writer.append('u');
  writer.append('0');
  writer.append('0');
  writer.append(hexadecimal(byte >> 4));
  writer.append(hexadecimal(byte & 15));
}

__device__ inline const char* address_of(const TextCursor& text, int32_t position) {
  return reinterpret_cast<const char*>(text.words) + position;
}

// Writes the string that is next, which may be a name.
__device__ inline void write_string(RecordText& json, JsonWriter& writer) {
  ++json.text.at;
  JsonString string;
  read_string(json, string);
  writer.append('"');
  if (!string.has_escapes) {
    writer.append(address_of(json.text, string.start), string.bytes);
  } else {
    TextCursor text = json.text;
    text.at = string.start;
    const int32_t end = string.start + string.written_bytes;
    while (text.at < end) {
      const int32_t byte = text.next();
      if (byte != '\\') {
        writer.append(static_cast<char>(byte));
        continue;
      }
      const int32_t code_point = read_escape(text);
      if (code_point < 0x80) {
        write_character(writer, code_point);
      } else {
        writer.length += put_code_point(code_point, writer.bytes + writer.length);
      }
    }
  }
  writer.append('"');
}

// The first significant digit stands for this power of ten; zero has one digit.
__device__ inline int32_t leading_exponent(const NumberText& number) {
  int32_t digits = 0;
  for (uint64_t rest = number.significant; rest > 0; rest /= 10) ++digits;
  return number.exponent + (digits > 0 ? digits - 1 : 0);
}

// The number that is next as BigDecimal or an integer writes it; NEEDS_HOST if it is not written so.
__device__ inline Outcome<String> number_text(TextCursor& text) {
  const int32_t start = text.at;
  NumberText number;
  read_number(text, true, number);
  const int32_t bytes = number.is_negative + number.digits + (number.digits > number.integer_digits);
  if (bytes != text.at - start || leading_exponent(number) < -6) return none<String>(NEEDS_HOST);
  const int32_t sign = number.is_negative && number.significant == 0;
  return value(String{address_of(text, start) + sign, bytes - sign});
}

__device__ inline bool write_scalar(RecordText& json, JsonWriter& writer, int32_t byte) {
  if (byte == '"') {
    write_string(json, writer);
    return true;
  }
  if (is_digit(byte) || byte == '-') {
    const Outcome<String> number = number_text(json.text);
    writer.append(number.value.bytes, number.value.length);
    return number.status == VALUE;
  }
  const int32_t start = json.text.at;
  skip_scalar(json, byte);
  writer.append(address_of(json.text, start), json.text.at - start);
  return true;
}

// Names compare as bytes if no code point is above U+FFFF, which Java has before U+E000.
__device__ inline int32_t compare_names(const TextCursor& text, const JsonString& left, const JsonString& right) {
  const char* a = address_of(text, left.start);
  const char* b = address_of(text, right.start);
  for (int32_t i = 0; i < left.bytes && i < right.bytes; ++i) {
    if (a[i] != b[i]) return static_cast<uint8_t>(a[i]) - static_cast<uint8_t>(b[i]);
  }
  return left.bytes - right.bytes;
}

__device__ inline bool has_wide_code_points(const TextCursor& text, const JsonString& name) {
  const char* bytes = address_of(text, name.start);
  for (int32_t i = 0; i < name.bytes; ++i) {
    if (static_cast<uint8_t>(bytes[i]) >= 0xf0) return true;
  }
  return false;
}

struct WrittenName {
  JsonString name;
  int32_t value;      // where its value begins; -1 if there is no further name
  int32_t end;        // of the object
  bool is_undecided;  // names that are equal or that the host compares
};

// The least name of an object behind `last`, from the byte behind its brace on. Valid JSON is read.
static __device__ __noinline__ WrittenName next_name(RecordText json, const JsonString& last) {
  WrittenName least = {{}, -1, 0, false};
  TextCursor& text = json.text;
  while (skip_space(text) != '}') {
    JsonString name;
    read_name(json, name);
    const int32_t value = (skip_space(text), text.at);
    int32_t elements;
    skip_value(json, text.peek(), elements);
    if (skip_space(text) == ',') ++text.at;
    least.is_undecided |= name.has_escapes || has_wide_code_points(text, name);
    if (last.start >= 0 && compare_names(text, name, last) <= 0) continue;
    const int32_t order = least.value < 0 ? -1 : compare_names(text, name, least.name);
    least.is_undecided |= order == 0;
    if (order < 0) {
      least.name = name;
      least.value = value;
    }
  }
  least.end = text.at + 1;
  return least;
}

struct WrittenContainer {
  int32_t start;    // behind the brace or bracket
  bool is_object;
  JsonString last;  // the last name that was written
};

// Writes the name of the next member and goes to its value, or behind the end of the object.
__device__ inline bool write_name(RecordText& json, JsonWriter& writer, WrittenContainer& object, bool& is_end) {
  RecordText members = json;
  members.text.at = object.start;
  const WrittenName next = next_name(members, object.last);
  is_end = next.value < 0;
  json.text.at = is_end ? next.end : next.value;
  if (next.is_undecided) return false;
  if (is_end) {
    writer.append('}');
    return true;
  }
  if (object.last.start >= 0) writer.append(',');
  writer.append('"');
  writer.append(address_of(json.text, next.name.start), next.name.bytes);
  writer.append('"');
  writer.append(':');
  object.last = next.name;
  return true;
}

// Goes to the next element of an array, or behind its end.
__device__ inline void write_element(RecordText& json, JsonWriter& writer, bool& is_end) {
  const int32_t byte = skip_space(json.text);
  is_end = byte == ']';
  if (is_end || byte == ',') {
    writer.append(static_cast<char>(byte));
    ++json.text.at;
  }
}

// Writes the valid value that is next; false if the host must.
__device__ inline bool write_value(RecordText& json, JsonWriter& writer) {
  WrittenContainer containers[MAX_WRITTEN_DEPTH];
  int32_t depth = 0;
  for (;;) {
    const int32_t byte = skip_space(json.text);
    if (byte == '{' || byte == '[') {
      if (depth == MAX_WRITTEN_DEPTH) return false;
      ++json.text.at;
      writer.append(static_cast<char>(byte));
      containers[depth++] = {json.text.at, byte == '{', {-1, 0, 0, false}};
    } else if (!write_scalar(json, writer, byte)) {
      return false;
    }
    for (bool is_end = true; is_end; depth -= is_end) {
      if (depth == 0) return true;
      WrittenContainer& container = containers[depth - 1];
      if (!container.is_object) {
        write_element(json, writer, is_end);
      } else if (!write_name(json, writer, container, is_end)) {
        return false;
      }
    }
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// Parts of strings between separators, Base64, the percent encoding of URLs, JSON strings, and IPv4 addresses.

#pragma once

#include "string_edit.cuh"

namespace millrace {

__device__ inline char base64_digit(uint32_t value) {
  return static_cast<char>(
      value < 26 ? 'A' + value : value < 52 ? 'a' + value - 26 : value < 62 ? '0' + value - 52 : value == 62 ? '+' : '/');
}

// The value of a digit, or -1.
__device__ inline int32_t base64_value(char digit) {
  return is_between(digit, 'A', 'Z')   ? digit - 'A'
         : is_between(digit, 'a', 'z') ? digit - 'a' + 26
         : is_between(digit, '0', '9') ? digit - '0' + 52
         : digit == '+'                ? 62
         : digit == '/'                ? 63
                                       : -1;
}

__device__ inline char hex_digit(uint32_t value) {
  return static_cast<char>(value < 10 ? '0' + value : 'A' + value - 10);
}

// The value of a digit, or -1.
__device__ inline int32_t hex_value(char digit) {
  const char lower = static_cast<char>(digit | 0x20);
  return is_between(digit, '0', '9') ? digit - '0' : is_between(lower, 'a', 'f') ? lower - 'a' + 10 : -1;
}

// What Integer.parseInt makes of two hexadecimal digits, of which the first may be a sign; negative if they are none.
__device__ inline int32_t escaped_value(char first, char second) {
  const int32_t low = hex_value(second);
  if (first == '+' || first == '-') {
    return first == '-' && low > 0 ? -1 : low;
  }
  return low < 0 ? -1 : hex_value(first) * 16 + low;
}

__device__ inline bool is_white_space(char byte) {
  return byte == ' ' || is_between(byte, '\t', '\r') || is_between(byte, 0x1C, 0x1F);
}

// The letter of a character's JSON escape, or 0 if it has none.
__device__ inline char json_escape(char byte) {
  switch (byte) {
    case '"':
    case '\\':
    case '/':
      return byte;
    case '\b':
      return 'b';
    case '\t':
      return 't';
    case '\n':
      return 'n';
    case '\f':
      return 'f';
    case '\r':
      return 'r';
    default:
      return 0;
  }
}

// \u with the hexadecimal digits of a code, at least four of them.
__device__ inline void append_unicode_escape(Writer& writer, uint32_t code) {
  writer.append('\\');
  writer.append('u');
  for (int32_t shift = code > 0xFFFFF ? 20 : code > 0xFFFF ? 16 : 12; shift >= 0; shift -= 4) {
    const uint32_t digit = code >> shift & 15;
    writer.append(static_cast<char>(digit < 10 ? '0' + digit : 'a' + digit - 10));
  }
}

// The part behind the `index`th separator, counted from 0; `next` gives where the next separator starts, or -1.
template <typename Next>
__device__ inline Outcome<String> split(String text, int32_t separator_length, int32_t index, Next next) {
  int32_t start = 0;
  int32_t end = next(0);
  for (; index > 0 && end >= 0; --index) {
    start = end + separator_length;
    end = next(start);
  }
  if (index > 0) {
    return none<String>(NULL_VALUE);
  }
  const String part = {text.bytes + start, (end < 0 ? text.length : end) - start};
  return is_well_formed(part) ? value(part) : none<String>(NEEDS_HOST);
}

}  // namespace millrace

// The part at `index`, counted from 0, or null. An empty separator stands for each white space.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> split_index(
    const char* bytes, int32_t length, const char* separator, int32_t separator_length, int32_t index) {
  using namespace millrace;
  const String text = {bytes, length};
  if (index < 0 || length <= 0) {
    return none<String>(NULL_VALUE);
  }
  if (separator_length > 0) {
    // Java puts U+FFFD for what is malformed, and the separator may have it.
    const int32_t widest = widest_code_point(separator, separator_length);
    if (widest == 0 || (widest > 1 && !is_well_formed(text))) {
      return none<String>(NEEDS_HOST);
    }
    return split(text, separator_length, index, [=](int32_t from) {
      return find_bytes(bytes, length, separator, separator_length, from);
    });
  }
  if (widest_code_point(bytes, length) != 1) {
    return none<String>(NEEDS_HOST);
  }
  return split(text, 1, index, [=](int32_t from) {
    while (from < length && !is_white_space(bytes[from])) {
      ++from;
    }
    return from < length ? from : -1;
  });
}

// The part at `index` between characters with a code of 1 to 255, or null.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> split_index_code(
    const char* bytes, int32_t length, int32_t code, int32_t index) {
  if (code < 1 || code > 255) {
    return millrace::none<millrace::String>(millrace::NULL_VALUE);
  }
  const uint64_t separator = code < 0x80 ? code : 0xC0 | code >> 6 | (0x80 | (code & 0x3F)) << 8;
  return split_index(bytes, length, reinterpret_cast<const char*>(&separator), code < 0x80 ? 1 : 2, index);
}

MILLRACE_FUNCTION millrace::String to_base64(char* scratch, const char* bytes, int32_t length) {
  int32_t written = 0;
  for (int32_t i = 0; i < length; i += 3) {
    const int32_t count = millrace::least(3, length - i);
    uint32_t group = 0;
    for (int32_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0);
    }
    for (int32_t k = 0; k < 4; ++k) {
      scratch[written++] = k <= count ? millrace::base64_digit(group >> (18 - 6 * k) & 63) : '=';
    }
  }
  return {scratch, written};
}

// As java.util.Base64's basic decoder: padding may be absent; what is not Base64 is an invalid argument.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> from_base64(char* scratch, const char* bytes, int32_t length) {
  using namespace millrace;
  int32_t digits = length;
  while (digits > 0 && length - digits < 2 && bytes[digits - 1] == '=') {
    --digits;
  }
  if (digits % 4 == 1 || (digits != length && length % 4 != 0)) {
    return none<String>(INVALID_ARGUMENT);
  }
  Writer writer = {scratch, 0};
  uint32_t bits = 0;
  for (int32_t i = 0; i < digits; ++i) {
    const int32_t digit = base64_value(bytes[i]);
    if (digit < 0) {
      return none<String>(INVALID_ARGUMENT);
    }
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (i % 4 != 0) {
      writer.append(static_cast<char>(bits >> (6 - 2 * (i % 4))));
    }
  }
  return value(writer.written());
}

// The form encoding of java.net.URLEncoder.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> url_encode(char* scratch, const char* bytes, int32_t length) {
  using namespace millrace;
  if (!is_well_formed({bytes, length})) {
    return none<String>(NEEDS_HOST);
  }
  Writer writer = {scratch, 0};
  for (int32_t i = 0; i < length; ++i) {
    const char byte = bytes[i];
    if (is_between(byte, '0', '9') || is_between(byte, 'A', 'Z') || is_between(byte, 'a', 'z') || byte == '.' ||
        byte == '-' || byte == '*' || byte == '_') {
      writer.append(byte);
    } else if (byte == ' ') {
      writer.append('+');
    } else {
      writer.append('%');
      writer.append(hex_digit(static_cast<uint8_t>(byte) >> 4));
      writer.append(hex_digit(byte & 15));
    }
  }
  return value(writer.written());
}

// As java.net.URLDecoder; null for a malformed escape.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> url_decode(char* scratch, const char* bytes, int32_t length) {
  using namespace millrace;
  if (!is_well_formed({bytes, length})) {
    return none<String>(NEEDS_HOST);
  }
  Writer writer = {scratch, 0};
  for (int32_t i = 0; i < length; ++i) {
    const char byte = bytes[i];
    if (byte != '%') {
      writer.append(byte == '+' ? ' ' : byte);
      continue;
    }
    if (i + 2 >= length) {
      return none<String>(NULL_VALUE);
    }
    if (((bytes[i + 1] | bytes[i + 2]) & 0x80) != 0) {
      return none<String>(NEEDS_HOST);
    }
    const int32_t escaped = escaped_value(bytes[i + 1], bytes[i + 2]);
    if (escaped < 0) {
      return none<String>(NULL_VALUE);
    }
    writer.append(static_cast<char>(escaped));
    i += 2;
  }
  return is_well_formed(writer.written()) ? value(writer.written()) : none<String>(NEEDS_HOST);
}

// A JSON string with Flink's escapes: a code point of two UTF-16 units has one for itself and one for its low surrogate.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> json_quote(char* scratch, const char* bytes, int32_t length) {
  using namespace millrace;
  if (!is_well_formed({bytes, length})) {
    return none<String>(NEEDS_HOST);
  }
  Writer writer = {scratch, 0};
  writer.append('"');
  int32_t width;
  for (int32_t i = 0; i < length; i += width) {
    width = code_point_width(static_cast<uint8_t>(bytes[i]));
    if (width == 1) {
      const char escape = json_escape(bytes[i]);
      if (escape != 0) {
        writer.append('\\');
      }
      writer.append(escape != 0 ? escape : bytes[i]);
      continue;
    }
    const uint32_t code = decode(bytes + i, width);
    append_unicode_escape(writer, code);
    if (width == 4) {
      append_unicode_escape(writer, 0xDC00 | (code & 0x3FF));
    }
  }
  writer.append('"');
  return value(writer.written());
}

// The number of an IPv4 address of one to four parts, the last of which is its last byte;
// null if it is none.
MILLRACE_FUNCTION millrace::Outcome<int64_t> inet_aton(const char* bytes, int32_t length) {
  using namespace millrace;
  int64_t address = 0;
  int32_t parts = 0;
  int32_t digits = 0;
  int32_t part = 0;
  for (int32_t i = 0; i <= length; ++i) {
    const char byte = i < length ? bytes[i] : '.';
    if (byte == '.') {
      if (digits == 0 || ++parts > 4) {
        return none<int64_t>(NULL_VALUE);
      }
      address = address << 8 | part;
      digits = 0;
      part = 0;
    } else {
      part = part * 10 + (byte - '0');
      ++digits;
      if (!is_between(byte, '0', '9') || part > 255) {
        return none<int64_t>(NULL_VALUE);
      }
    }
  }
  const int64_t last = address & 0xFF;
  const int64_t first = (address >> 8) << (40 - 8 * parts);
  return value(parts == 1 || parts == 4 ? address : first | last);
}

// The IPv4 address with a number; null if there is none. It takes fifteen bytes of scratch.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> inet_ntoa(char* scratch, int64_t number) {
  using namespace millrace;
  if (number < 0 || number > 0xFFFFFFFFll) {
    return none<String>(NULL_VALUE);
  }
  Writer writer = {scratch, 0};
  for (int32_t shift = 24; shift >= 0; shift -= 8) {
    const int32_t part = static_cast<int32_t>(number >> shift) & 0xFF;
    if (part >= 100) {
      writer.append(static_cast<char>('0' + part / 100));
    }
    if (part >= 10) {
      writer.append(static_cast<char>('0' + part / 10 % 10));
    }
    writer.append(static_cast<char>('0' + part % 10));
    if (shift > 0) {
      writer.append('.');
    }
  }
  return value(writer.written());
}

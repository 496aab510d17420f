// SPDX-License-Identifier: Apache-2.0
// Digits to text and back.

#pragma once

#include "function/function.cuh"

namespace millrace {

constexpr int32_t LIMB_DIGITS = 9;
constexpr uint32_t LIMB_BASE = 1000000000;
constexpr int32_t MAX_EXPONENT_DIGITS = 5;

// The number as decimal digits, without leading zeros but at least one; gives how many they are.
__device__ inline int32_t write_digits(uint64_t number, char* to) {
  int32_t count = 0;
  for (uint64_t rest = number; rest > 0 || count == 0; rest /= 10) {
    count++;
  }
  for (int32_t i = count - 1; i >= 0; i--) {
    to[i] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
  return count;
}

// Nine digits at a time, by long division of 32-bit limbs.
__device__ inline int32_t write_digits(uint64_t low, uint64_t high, char* to) {
  if (high == 0) {
    return write_digits(low, to);
  }
  uint32_t limbs[4] = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                       static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
  uint32_t groups[5];
  for (int32_t group = 0; group < 5; group++) {
    uint64_t rest = 0;
    for (int32_t i = 3; i >= 0; i--) {
      uint64_t value = rest << 32 | limbs[i];
      limbs[i] = static_cast<uint32_t>(value / LIMB_BASE);
      rest = value % LIMB_BASE;
    }
    groups[group] = static_cast<uint32_t>(rest);
  }
  int32_t top = 4;
  while (groups[top] == 0) {
    top--;
  }
  int32_t count = write_digits(groups[top], to);
  for (int32_t group = top - 1; group >= 0; group--) {
    uint32_t digits = groups[group];
    for (int32_t i = LIMB_DIGITS - 1; i >= 0; i--) {
      to[count + i] = static_cast<char>('0' + digits % 10);
      digits /= 10;
    }
    count += LIMB_DIGITS;
  }
  return count;
}

__device__ inline String write_integer(int64_t number, char* to) {
  int32_t sign = number < 0;
  if (sign) {
    *to = '-';
  }
  uint64_t magnitude = sign ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  return {to, sign + write_digits(magnitude, to + sign)};
}

// Plain notation with `scale` digits behind the point and one before it at least.
__device__ inline String write_decimal(uint64_t low, int64_t high, int32_t scale, char* to) {
  int32_t length = 0;
  if (high < 0) {
    to[length++] = '-';
    low = 0 - low;
    high = static_cast<int64_t>(~static_cast<uint64_t>(high) + (low == 0));
  }
  char digits[40];
  int32_t count = write_digits(low, static_cast<uint64_t>(high), digits);
  for (int32_t place = count > scale ? count - 1 : scale; place >= 0; place--) {
    to[length++] = place < count ? digits[count - 1 - place] : '0';
    if (place == scale && scale > 0) {
      to[length++] = '.';
    }
  }
  return {to, length};
}

__device__ inline bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

struct Text {
  const char* bytes;
  int32_t length;

  __device__ char operator[](int32_t index) const { return bytes[index]; }
};

// Without the spaces around it.
__device__ inline Text trim_spaces(const char* bytes, int32_t length) {
  int32_t start = 0;
  while (start < length && bytes[start] == ' ') {
    start++;
  }
  while (length > start && bytes[length - 1] == ' ') {
    length--;
  }
  return {bytes + start, length - start};
}

// As BinaryStringDataUtil of Flink: a sign, digits, and a fraction that counts for nothing. Even a lone point
// is a number.
__device__ inline Outcome<int64_t> parse_integer(
    const char* bytes, int32_t length, int64_t minimum, int64_t maximum) {
  Text text = trim_spaces(bytes, length);
  bool negative = text.length > 0 && text[0] == '-';
  int32_t i = negative || (text.length > 0 && text[0] == '+');
  if (i == text.length) {
    return none<int64_t>(INVALID_CAST);
  }
  uint64_t limit = negative ? 0 - static_cast<uint64_t>(minimum) : static_cast<uint64_t>(maximum);
  uint64_t magnitude = 0;
  bool in_fraction = false;
  for (; i < text.length; i++) {
    if (text[i] == '.' && !in_fraction) {
      in_fraction = true;
      continue;
    }
    if (!is_digit(text[i])) {
      return none<int64_t>(INVALID_CAST);
    }
    if (!in_fraction) {
      uint64_t digit = static_cast<uint64_t>(text[i] - '0');
      if (magnitude > (limit - digit) / 10) {
        return none<int64_t>(INVALID_CAST);
      }
      magnitude = magnitude * 10 + digit;
    }
  }
  return value(static_cast<int64_t>(negative ? 0 - magnitude : magnitude));
}

// A number in scientific notation: digits from `first` to `last`, perhaps with a point among them.
struct Number {
  Text text;
  bool negative;
  int32_t first;
  int32_t last;
  int32_t digits_before_point;
  int32_t exponent;
};

// Whether all bytes are ASCII and no control characters.
__device__ inline bool is_printable(Text text) {
  for (int32_t i = 0; i < text.length; i++) {
    if (text[i] < ' ' || text[i] > '~') {
      return false;
    }
  }
  return true;
}

// Reads what BigDecimal and Double.parseDouble have in common: plain and scientific notation. Printable text that
// is INVALID_CAST is not a BigDecimal; an exponent of many digits is NEEDS_HOST.
__device__ inline Outcome<Number> parse_number(Text text) {
  Number number{text, false, 0, 0, 0, 0};
  int32_t i = 0;
  if (text.length > 0 && (text[0] == '-' || text[0] == '+')) {
    number.negative = text[0] == '-';
    i = 1;
  }
  number.first = i;
  int32_t digits = 0;
  bool in_fraction = false;
  for (; i < text.length && (is_digit(text[i]) || (text[i] == '.' && !in_fraction)); i++) {
    if (text[i] == '.') {
      in_fraction = true;
      continue;
    }
    digits++;
    number.digits_before_point += !in_fraction;
  }
  number.last = i;
  if (digits == 0) {
    return none<Number>(INVALID_CAST);
  }
  if (i < text.length && (text[i] == 'e' || text[i] == 'E')) {
    i++;
    bool negative = i < text.length && text[i] == '-';
    i += negative || (i < text.length && text[i] == '+');
    int32_t start = i;
    for (; i < text.length && is_digit(text[i]); i++) {
      if (i - start == MAX_EXPONENT_DIGITS) {
        return none<Number>(NEEDS_HOST);
      }
      number.exponent = number.exponent * 10 + (text[i] - '0');
    }
    if (i == start) {
      return none<Number>(INVALID_CAST);
    }
    number.exponent = negative ? -number.exponent : number.exponent;
  }
  return i == text.length ? value(number) : none<Number>(INVALID_CAST);
}

__device__ inline bool is_blank(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\t';
}

__device__ inline int64_t power_of_ten(int32_t exponent) {
  int64_t power = 1;
  for (; exponent > 0; exponent--) {
    power *= 10;
  }
  return power;
}

// The part of a short number before its exponent.
struct Significand {
  int64_t magnitude;
  int32_t digits;
  int32_t digits_before_point;
  // What comes next, and the byte that ended it.
  int32_t next;
  char end;
};

// Takes the byte that ends the significand, of any value. Its digits are less than zero if there are two points.
__device__ inline Significand read_significand(const char* bytes, int32_t length, int32_t i) {
  Significand read{0, 0, -1, i, 0};
  while (read.next < length) {
    read.end = bytes[read.next++];
    if (is_digit(read.end)) {
      read.magnitude = read.magnitude * 10 + (read.end - '0');
      read.digits++;
    } else if (read.end == '.' && read.digits_before_point < 0) {
      read.digits_before_point = read.digits;
    } else if (read.end == '.') {
      return {0, -1, 0, length, 0};
    } else {
      break;
    }
  }
  if (read.digits_before_point < 0) {
    read.digits_before_point = read.digits;
  }
  return read;
}

__device__ inline Text trim_blanks(const char* bytes, int32_t length) {
  int32_t start = 0;
  while (start < length && is_blank(bytes[start])) {
    start++;
  }
  while (length > start && is_blank(bytes[length - 1])) {
    length--;
  }
  return {bytes + start, length - start};
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// Binary and hexadecimal digits.

#include "function/function.cuh"
#include "function/string/string_text.cuh"

using namespace millrace;

namespace {

__device__ inline char upper_digit(uint32_t value) {
  return static_cast<char>(value < 10 ? '0' + value : 'A' + value - 10);
}

// The value of a hexadecimal digit, or -1.
__device__ inline int32_t digit_value(char digit) {
  return digit >= '0' && digit <= '9'   ? digit - '0'
         : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
         : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                        : -1;
}

// The digits of an unsigned number without leading zeros.
__device__ inline String digits(char* scratch, uint64_t number, int32_t bits) {
  int32_t count = 1;
  while (count * bits < 64 && number >> count * bits != 0) count++;
  for (int32_t i = count - 1; i >= 0; i--, number >>= bits) {
    scratch[i] = upper_digit(static_cast<uint32_t>(number) & ((1u << bits) - 1));
  }
  return {scratch, count};
}

}  // namespace

MILLRACE_FUNCTION String long_bin(char* scratch, int64_t number) {
  return digits(scratch, static_cast<uint64_t>(number), 1);
}

MILLRACE_FUNCTION String long_hex(char* scratch, int64_t number) {
  return digits(scratch, static_cast<uint64_t>(number), 4);
}

// Flink replaces bytes that are not UTF-8 before.
MILLRACE_FUNCTION Outcome<String> bytes_hex(char* scratch, const char* bytes, int32_t length) {
  if (!is_well_formed({bytes, length})) return none<String>(NEEDS_HOST);
  for (int32_t i = 0; i < length; i++) {
    uint32_t byte = static_cast<uint8_t>(bytes[i]);
    scratch[2 * i] = upper_digit(byte >> 4);
    scratch[2 * i + 1] = upper_digit(byte & 0xf);
  }
  return value(String{scratch, 2 * length});
}

// Of an odd number of digits the first is checked, but its byte is zero: so does Flink.
MILLRACE_FUNCTION Outcome<String> bytes_unhex(char* scratch, const char* bytes, int32_t length) {
  int32_t odd = length & 1;
  if (odd != 0) {
    if (digit_value(bytes[0]) < 0) return none<String>(NULL_VALUE);
    scratch[0] = 0;
  }
  for (int32_t i = odd; i < length; i += 2) {
    int32_t high = digit_value(bytes[i]);
    int32_t low = digit_value(bytes[i + 1]);
    if (high < 0 || low < 0) return none<String>(NULL_VALUE);
    scratch[(i + odd) / 2] = static_cast<char>(high << 4 | low);
  }
  return value(String{scratch, (length + 1) / 2});
}

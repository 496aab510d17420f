// SPDX-License-Identifier: Apache-2.0
// Message digests as hexadecimal text, and the hash codes of values in Java.

#include "digest.cuh"

using namespace millrace;

MILLRACE_FUNCTION String md5(char* scratch, const char* bytes, int32_t length) {
  return md5_digest(scratch, bytes, length);
}

MILLRACE_FUNCTION String sha1(char* scratch, const char* bytes, int32_t length) {
  return sha1_digest(scratch, bytes, length);
}

MILLRACE_FUNCTION String sha224(char* scratch, const char* bytes, int32_t length) {
  return sha2_digest(scratch, bytes, length, SHA224_START, 28);
}

MILLRACE_FUNCTION String sha256(char* scratch, const char* bytes, int32_t length) {
  return sha2_digest(scratch, bytes, length, SHA256_START, 32);
}

MILLRACE_FUNCTION String sha384(char* scratch, const char* bytes, int32_t length) {
  return sha2_digest(scratch, bytes, length, SHA384_START, 48);
}

MILLRACE_FUNCTION String sha512(char* scratch, const char* bytes, int32_t length) {
  return sha2_digest(scratch, bytes, length, SHA512_START, 64);
}

// The digest that Java calls "SHA-" + bits, of which there is one for 1.
MILLRACE_FUNCTION Outcome<String> sha2(char* scratch, const char* bytes, int32_t length, int64_t bits) {
  switch (bits) {
    case 1:
      return value(sha1_digest(scratch, bytes, length));
    case 224:
      return value(sha2_digest(scratch, bytes, length, SHA224_START, 28));
    case 256:
      return value(sha2_digest(scratch, bytes, length, SHA256_START, 32));
    case 384:
      return value(sha2_digest(scratch, bytes, length, SHA384_START, 48));
    case 512:
      return value(sha2_digest(scratch, bytes, length, SHA512_START, 64));
    default:
      return none<String>(INVALID_ARGUMENT);
  }
}

MILLRACE_FUNCTION int32_t hash_code_of_long(int64_t value) {
  return static_cast<int32_t>(value ^ static_cast<int64_t>(static_cast<uint64_t>(value) >> 32));
}

// The absolute value, as Flink has it. Of ASCII alone: Java's strings have other units.
MILLRACE_FUNCTION Outcome<int32_t> hash_code_of_text(const char* bytes, int32_t length) {
  uint32_t hash = 0;
  for (int32_t i = 0; i < length; i++) {
    uint8_t unit = static_cast<uint8_t>(bytes[i]);
    if (unit >= 0x80) {
      return none<int32_t>(NEEDS_HOST);
    }
    hash = 31 * hash + unit;
  }
  return value(static_cast<int32_t>(hash >> 31 != 0 ? 0 - hash : hash));
}

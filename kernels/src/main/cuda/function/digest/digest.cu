// SPDX-License-Identifier: Apache-2.0
// Message digests as hexadecimal text.

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

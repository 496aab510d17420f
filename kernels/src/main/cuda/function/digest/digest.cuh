// SPDX-License-Identifier: Apache-2.0
// Message digests: MD5 (RFC 1321), SHA-1 and SHA-2 (FIPS 180-4), one thread a message.

#pragma once

#include "function/function.cuh"

namespace millrace {

__device__ inline uint32_t rotate_left(uint32_t word, int32_t bits) { return word << bits | word >> (32 - bits); }

__device__ inline uint32_t rotate_right(uint32_t word, int32_t bits) { return word >> bits | word << (32 - bits); }

__device__ inline uint64_t rotate_right(uint64_t word, int32_t bits) { return word >> bits | word << (64 - bits); }

// A message as blocks of 16 words: its bytes, a one bit, zeros, and its length in bits in the last two words.
template <typename Word, bool IS_BIG_ENDIAN>
class PaddedMessage {
 public:
  __device__ PaddedMessage(const char* bytes, int32_t length) : bytes_(bytes), length_(length) {}

  __device__ int64_t block_count() const { return (length_ + 2 * BYTES) / (16 * BYTES) + 1; }

  __device__ void load(int64_t block, Word* words) const {
    int64_t position = block * 16 * BYTES;
    for (int32_t i = 0; i < 16; i++, position += BYTES) {
      words[i] = word(position);
    }
    if (block == block_count() - 1) {
      words[IS_BIG_ENDIAN ? 15 : 14] = static_cast<Word>(8 * length_);
      words[IS_BIG_ENDIAN ? 14 : 15] = static_cast<Word>(sizeof(Word) == 4 ? length_ >> 29 : 0);
    }
  }

 private:
  static constexpr int64_t BYTES = sizeof(Word);

  __device__ Word word(int64_t position) const {
    Word word = 0;
    for (int32_t i = 0; i < BYTES; i++) {
      int64_t at = position + i;
      Word byte = at < length_ ? static_cast<uint8_t>(bytes_[at]) : at == length_ ? 0x80 : 0;
      word |= byte << 8 * (IS_BIG_ENDIAN ? BYTES - 1 - i : i);
    }
    return word;
  }

  const char* bytes_;
  int64_t length_;
};

// Lower-case hexadecimal digits of the leading `size` bytes of a state.
template <typename Word, bool IS_BIG_ENDIAN>
__device__ inline String hexadecimal(char* scratch, const Word* state, int32_t size) {
  for (int32_t i = 0; i < size; i++) {
    int32_t in_word = i % static_cast<int32_t>(sizeof(Word));
    int32_t shift = 8 * (IS_BIG_ENDIAN ? static_cast<int32_t>(sizeof(Word)) - 1 - in_word : in_word);
    uint32_t byte = static_cast<uint32_t>(state[i / sizeof(Word)] >> shift) & 0xff;
    uint32_t high = byte >> 4;
    uint32_t low = byte & 0xf;
    scratch[2 * i] = static_cast<char>(high < 10 ? '0' + high : 'a' + high - 10);
    scratch[2 * i + 1] = static_cast<char>(low < 10 ? '0' + low : 'a' + low - 10);
  }
  return {scratch, 2 * size};
}

// 2^32 |sin(i + 1)|
__device__ const uint32_t MD5_CONSTANTS[64] = {
    0xD76AA478, 0xE8C7B756, 0x242070DB, 0xC1BDCEEE, 0xF57C0FAF, 0x4787C62A, 0xA8304613, 0xFD469501,
    0x698098D8, 0x8B44F7AF, 0xFFFF5BB1, 0x895CD7BE, 0x6B901122, 0xFD987193, 0xA679438E, 0x49B40821,
    0xF61E2562, 0xC040B340, 0x265E5A51, 0xE9B6C7AA, 0xD62F105D, 0x02441453, 0xD8A1E681, 0xE7D3FBC8,
    0x21E1CDE6, 0xC33707D6, 0xF4D50D87, 0x455A14ED, 0xA9E3E905, 0xFCEFA3F8, 0x676F02D9, 0x8D2A4C8A,
    0xFFFA3942, 0x8771F681, 0x6D9D6122, 0xFDE5380C, 0xA4BEEA44, 0x4BDECFA9, 0xF6BB4B60, 0xBEBFBC70,
    0x289B7EC6, 0xEAA127FA, 0xD4EF3085, 0x04881D05, 0xD9D4D039, 0xE6DB99E5, 0x1FA27CF8, 0xC4AC5665,
    0xF4292244, 0x432AFF97, 0xAB9423A7, 0xFC93A039, 0x655B59C3, 0x8F0CCC92, 0xFFEFF47D, 0x85845DD1,
    0x6FA87E4F, 0xFE2CE6E0, 0xA3014314, 0x4E0811A1, 0xF7537E82, 0xBD3AF235, 0x2AD7D2BB, 0xEB86D391,
};

__device__ const uint8_t MD5_ROTATIONS[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

// Bits 32 and on of the cube roots of the first primes.
__device__ const uint32_t SHA256_CONSTANTS[64] = {
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
};

__device__ const uint64_t SHA512_CONSTANTS[80] = {
    0x428A2F98D728AE22, 0x7137449123EF65CD, 0xB5C0FBCFEC4D3B2F, 0xE9B5DBA58189DBBC,
    0x3956C25BF348B538, 0x59F111F1B605D019, 0x923F82A4AF194F9B, 0xAB1C5ED5DA6D8118,
    0xD807AA98A3030242, 0x12835B0145706FBE, 0x243185BE4EE4B28C, 0x550C7DC3D5FFB4E2,
    0x72BE5D74F27B896F, 0x80DEB1FE3B1696B1, 0x9BDC06A725C71235, 0xC19BF174CF692694,
    0xE49B69C19EF14AD2, 0xEFBE4786384F25E3, 0x0FC19DC68B8CD5B5, 0x240CA1CC77AC9C65,
    0x2DE92C6F592B0275, 0x4A7484AA6EA6E483, 0x5CB0A9DCBD41FBD4, 0x76F988DA831153B5,
    0x983E5152EE66DFAB, 0xA831C66D2DB43210, 0xB00327C898FB213F, 0xBF597FC7BEEF0EE4,
    0xC6E00BF33DA88FC2, 0xD5A79147930AA725, 0x06CA6351E003826F, 0x142929670A0E6E70,
    0x27B70A8546D22FFC, 0x2E1B21385C26C926, 0x4D2C6DFC5AC42AED, 0x53380D139D95B3DF,
    0x650A73548BAF63DE, 0x766A0ABB3C77B2A8, 0x81C2C92E47EDAEE6, 0x92722C851482353B,
    0xA2BFE8A14CF10364, 0xA81A664BBC423001, 0xC24B8B70D0F89791, 0xC76C51A30654BE30,
    0xD192E819D6EF5218, 0xD69906245565A910, 0xF40E35855771202A, 0x106AA07032BBD1B8,
    0x19A4C116B8D2D0C8, 0x1E376C085141AB53, 0x2748774CDF8EEB99, 0x34B0BCB5E19B48A8,
    0x391C0CB3C5C95A63, 0x4ED8AA4AE3418ACB, 0x5B9CCA4F7763E373, 0x682E6FF3D6B2B8A3,
    0x748F82EE5DEFB2FC, 0x78A5636F43172F60, 0x84C87814A1F0AB72, 0x8CC702081A6439EC,
    0x90BEFFFA23631E28, 0xA4506CEBDE82BDE9, 0xBEF9A3F7B2C67915, 0xC67178F2E372532B,
    0xCA273ECEEA26619C, 0xD186B8C721C0C207, 0xEADA7DD6CDE0EB1E, 0xF57D4F7FEE6ED178,
    0x06F067AA72176FBA, 0x0A637DC5A2C898A6, 0x113F9804BEF90DAE, 0x1B710B35131C471B,
    0x28DB77F523047D84, 0x32CAAB7B40C72493, 0x3C9EBE0A15C9BEBC, 0x431D67C49C100D4C,
    0x4CC5D4BECB3E42B6, 0x597F299CFC657E2A, 0x5FCB6FAB3AD6FAEC, 0x6C44198C4A475817,
};

__device__ const uint32_t SHA1_START[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};

__device__ const uint32_t SHA224_START[8] = {
    0xC1059ED8, 0x367CD507, 0x3070DD17, 0xF70E5939, 0xFFC00B31, 0x68581511, 0x64F98FA7, 0xBEFA4FA4,
};

__device__ const uint32_t SHA256_START[8] = {
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
};

__device__ const uint64_t SHA384_START[8] = {
    0xCBBB9D5DC1059ED8, 0x629A292A367CD507, 0x9159015A3070DD17, 0x152FECD8F70E5939,
    0x67332667FFC00B31, 0x8EB44A8768581511, 0xDB0C2E0D64F98FA7, 0x47B5481DBEFA4FA4,
};

__device__ const uint64_t SHA512_START[8] = {
    0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
    0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
};

__device__ __noinline__ String md5_digest(char* scratch, const char* bytes, int32_t length) {
  uint32_t state[4] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};
  PaddedMessage<uint32_t, false> message(bytes, length);
  for (int64_t block = 0; block < message.block_count(); block++) {
    uint32_t words[16];
    message.load(block, words);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (int32_t i = 0; i < 64; i++) {
      int32_t round = i >> 4;
      uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                       : round == 1 ? (d & b) | (~d & c)
                       : round == 2 ? b ^ c ^ d
                                    : c ^ (b | ~d);
      int32_t index = (round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i) & 15;
      uint32_t sum = a + mixed + MD5_CONSTANTS[i] + words[index];
      a = d;
      d = c;
      c = b;
      b += rotate_left(sum, MD5_ROTATIONS[4 * round + (i & 3)]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
  }
  return hexadecimal<uint32_t, false>(scratch, state, 16);
}

__device__ __noinline__ String sha1_digest(char* scratch, const char* bytes, int32_t length) {
  uint32_t state[5];
  for (int32_t i = 0; i < 5; i++) {
    state[i] = SHA1_START[i];
  }
  PaddedMessage<uint32_t, true> message(bytes, length);
  for (int64_t block = 0; block < message.block_count(); block++) {
    uint32_t words[16];
    message.load(block, words);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int32_t i = 0; i < 80; i++) {
      if (i >= 16) {
        words[i & 15] = rotate_left(
            words[(i + 13) & 15] ^ words[(i + 8) & 15] ^ words[(i + 2) & 15] ^ words[i & 15], 1);
      }
      uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5A827999
                       : i < 40 ? (b ^ c ^ d) + 0x6ED9EBA1
                       : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC
                                : (b ^ c ^ d) + 0xCA62C1D6;
      uint32_t next = rotate_left(a, 5) + mixed + e + words[i & 15];
      e = d;
      d = c;
      c = rotate_left(b, 30);
      b = a;
      a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
  }
  return hexadecimal<uint32_t, true>(scratch, state, 20);
}

// What differs between SHA-2 of 32-bit and of 64-bit words.
template <typename Word>
struct Sha2;

template <>
struct Sha2<uint32_t> {
  static constexpr int32_t ROUNDS = 64;
  __device__ static uint32_t constant(int32_t round) { return SHA256_CONSTANTS[round]; }
  __device__ static uint32_t sum_of_a(uint32_t x) {
    return rotate_right(x, 2) ^ rotate_right(x, 13) ^ rotate_right(x, 22);
  }
  __device__ static uint32_t sum_of_e(uint32_t x) {
    return rotate_right(x, 6) ^ rotate_right(x, 11) ^ rotate_right(x, 25);
  }
  __device__ static uint32_t early_word(uint32_t x) { return rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3; }
  __device__ static uint32_t late_word(uint32_t x) { return rotate_right(x, 17) ^ rotate_right(x, 19) ^ x >> 10; }
};

template <>
struct Sha2<uint64_t> {
  static constexpr int32_t ROUNDS = 80;
  __device__ static uint64_t constant(int32_t round) { return SHA512_CONSTANTS[round]; }
  __device__ static uint64_t sum_of_a(uint64_t x) {
    return rotate_right(x, 28) ^ rotate_right(x, 34) ^ rotate_right(x, 39);
  }
  __device__ static uint64_t sum_of_e(uint64_t x) {
    return rotate_right(x, 14) ^ rotate_right(x, 18) ^ rotate_right(x, 41);
  }
  __device__ static uint64_t early_word(uint64_t x) { return rotate_right(x, 1) ^ rotate_right(x, 8) ^ x >> 7; }
  __device__ static uint64_t late_word(uint64_t x) { return rotate_right(x, 19) ^ rotate_right(x, 61) ^ x >> 6; }
};

template <typename Word>
__device__ inline void sha2_block(Word* state, Word* words) {
  Word a = state[0], b = state[1], c = state[2], d = state[3];
  Word e = state[4], f = state[5], g = state[6], h = state[7];
  for (int32_t i = 0; i < Sha2<Word>::ROUNDS; i++) {
    if (i >= 16) {
      words[i & 15] += Sha2<Word>::early_word(words[(i + 1) & 15]) + words[(i + 9) & 15] +
                       Sha2<Word>::late_word(words[(i + 14) & 15]);
    }
    Word first = h + Sha2<Word>::sum_of_e(e) + ((e & f) ^ (~e & g)) + Sha2<Word>::constant(i) + words[i & 15];
    Word second = Sha2<Word>::sum_of_a(a) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  Word mixed[8] = {a, b, c, d, e, f, g, h};
  for (int32_t i = 0; i < 8; i++) {
    state[i] += mixed[i];
  }
}

// `size`: bytes of the digest
template <typename Word>
__device__ __noinline__ String sha2_digest(
    char* scratch, const char* bytes, int32_t length, const Word* start, int32_t size) {
  Word state[8];
  for (int32_t i = 0; i < 8; i++) {
    state[i] = start[i];
  }
  PaddedMessage<Word, true> message(bytes, length);
  for (int64_t block = 0; block < message.block_count(); block++) {
    Word words[16];
    message.load(block, words);
    sha2_block(state, words);
  }
  return hexadecimal<Word, true>(scratch, state, size);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// A string that is to be stored among the words of long strings: one part, or a first part and pieces behind it.
#pragma once

#include "state_string.cuh"

namespace millrace {

struct StringPiece {
  uint64_t source;  // as in StringMove
  uint64_t chunks;
  int32_t end;      // bytes of the string up to the end of this piece
  int32_t padding;
};

struct StringMove {
  uint64_t source;       // the address of the bytes of the first part, or the number of its first word
  uint64_t chunks;       // 0, or uint64 per chunk of the words with that word: its address
  uint64_t tail;         // address of the uint64 that gets the place of the string
  uint64_t other_tail;   // of another one, or 0
  int32_t length;        // 0: there is no string to move
  int32_t first_length;  // of the first part, which may lie in the row of the tail
  uint64_t pieces;       // StringPiece each: what follows the first part; 0: nothing does
  int32_t piece_count;
  int32_t padding;
};

// `count` bytes, 8 at most, of a string from `begin` on.
static __device__ __forceinline__ uint64_t bytes_at(const KeyString& string, int32_t begin, int32_t count) {
  if (string.chunks == 0) return load_bytes<AnyMemory>(reinterpret_cast<const void*>(string.address + begin), count);
  const int64_t word = static_cast<int64_t>(string.address) + begin / 8;
  const int32_t shift = begin % 8 * 8;
  uint64_t bytes = *stored_word(string.chunks, word) >> shift;
  if (shift + count * 8 > 64) bytes |= *stored_word(string.chunks, word + 1) << (64 - shift);
  return count == 8 ? bytes : bytes & ((uint64_t{1} << (count * 8)) - 1);
}

// The first piece that ends behind byte `begin`; there is one.
static __device__ __forceinline__ int32_t piece_with(const StringPiece* pieces, int32_t count, int32_t begin) {
  int32_t low = 0;
  int32_t high = count - 1;
  while (low < high) {
    const int32_t middle = (low + high) / 2;
    if (pieces[middle].end > begin) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Word `number` of a string that has pieces, with zeros behind its bytes.
static __device__ uint64_t word_of_pieces(const StringMove& move, int32_t number) {
  const StringPiece* pieces = reinterpret_cast<const StringPiece*>(move.pieces);
  const int32_t begin = number * 8;
  const int32_t count = min(8, move.length - begin);
  uint64_t word = 0;
  int32_t done = 0;
  if (begin < move.first_length) {
    done = min(count, move.first_length - begin);
    word = bytes_at({move.source, move.first_length, move.chunks}, begin, done);
  }
  if (done >= count) return word;
  for (int32_t i = piece_with(pieces, move.piece_count, begin + done); done < count; ++i) {
    const int32_t start = i == 0 ? move.first_length : pieces[i - 1].end;
    const int32_t taken = min(count - done, pieces[i].end - begin - done);
    if (taken <= 0) continue;
    const KeyString piece = {pieces[i].source, pieces[i].end - start, pieces[i].chunks};
    word |= bytes_at(piece, begin + done - start, taken) << (done * 8);
    done += taken;
  }
  return word;
}

static __device__ __forceinline__ uint64_t word_of_move(const StringMove& move, int32_t number) {
  if (move.pieces != 0) return word_of_pieces(move, number);
  return word_of_string({move.source, move.length, move.chunks}, number);
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// Strings that grow by those of further rows: where the pieces of each key's string lie.
#pragma once

#include "state_wide.cuh"

namespace millrace {

// The string of a key with the pieces of some rows.
struct GrownString {
  int32_t length;
  int32_t rows;    // that have a piece; of a row without a value it is empty
  int32_t values;
};

// Rows are never taken back.
struct ListFold {
  static __device__ __forceinline__ GrownString read(const uint64_t* words) {
    return {static_cast<int32_t>(words[0]), 0, 0};
  }
  static __device__ __forceinline__ void put_piece(const FoldedValue& value, uint32_t at, const KeyString& string,
                                                   int32_t end) {
    *slot_of<StringPiece>(value.pieces, at) = {string.address, string.chunks, end, 0};
  }
  static __device__ GrownString by_thread(const StateFoldArguments& arguments, const FoldedValue& value,
                                          const Segment& segment, GrownString grown, int64_t) {
    for (uint32_t at = segment.first; is_in(arguments, segment, at); ++at) {
      const uint32_t row = row_at(arguments, at);
      const bool has_value = has_element(value, row);
      const KeyString string = has_value ? element_of_row(value, row).string : KeyString{0, 0, 0};
      grown.length += string.length;
      grown.rows += 1;
      grown.values += has_value ? 1 : 0;
      put_piece(value, at, string, grown.length);
    }
    return grown;
  }
  static __device__ GrownString by_warp(const StateFoldArguments& arguments, const FoldedValue& value,
                                        const Segment& segment, GrownString grown, int64_t) {
    uint32_t members = ALL_LANES;
    for (uint32_t first = segment.first; members == ALL_LANES; first += WARP) {
      const uint32_t at = first + lane_of_thread();
      const bool is_member = is_in(arguments, segment, at);
      members = __ballot_sync(ALL_LANES, is_member);
      const uint32_t row = is_member ? row_at(arguments, at) : 0;
      const bool has_value = is_member && has_element(value, row);
      const KeyString string = has_value ? element_of_row(value, row).string : KeyString{0, 0, 0};
      const uint32_t values = __ballot_sync(ALL_LANES, has_value);
      int32_t sum = string.length;
      for (int distance = 1; distance < WARP; distance *= 2) {
        const int32_t below = __shfl_up_sync(ALL_LANES, sum, distance);
        if (lane_of_thread() >= distance) sum += below;
      }
      if (is_member) put_piece(value, at, string, grown.length + sum);
      grown.length += __shfl_sync(ALL_LANES, sum, WARP - 1);
      grown.rows += __popc(members);
      grown.values += __popc(values);
    }
    return grown;
  }
  static __device__ void put(const StateFoldArguments& arguments, const FoldedValue& value, const Segment& segment,
                             uint64_t* state, const GrownString& grown) {
    uint64_t* words = state + value.word;
    const int64_t key = element_of<uint32_t>(arguments.positions, segment.group);
    StringMove* slot = slot_of<StringMove>(arguments.moves, key * arguments.strings_of_key + value.string);
    if (grown.values == 0) {
      slot->length = 0;
      return;
    }
    const int32_t before = static_cast<int32_t>(words[0]);
    const bool was_long = before > INLINE_BYTES;
    const bool is_long = grown.length > INLINE_BYTES;
    // The bytes of a short string stay where they are until its tail gets a place: the head has the same prefix.
    StringMove move = {was_long ? words[1] : reinterpret_cast<uint64_t>(words) + PREFIX_BYTES,
                       was_long ? arguments.strings : 0,
                       reinterpret_cast<uint64_t>(words + 1),
                       other_tail_of(value, key),
                       grown.length,
                       before,
                       value.pieces + segment.first * sizeof(StringPiece),
                       grown.rows,
                       0};
    const uint64_t low = word_of_pieces(move, 0);
    const uint64_t high = grown.length > 8 ? word_of_pieces(move, 1) : 0;
    const uint64_t head = static_cast<uint32_t>(grown.length) | low << 32;
    const uint64_t tail = is_long ? 0 : low >> 32 | high << 32;
    const bool is_changed = words[2] == 0 || grown.length != before;
    words[0] = head;
    if (!is_long) {
      words[1] = tail;
      move.length = 0;
    }
    words[2] = 1;
    *slot = move;
    if (value.output == 0) return;
    put_wide_result(value, 2 * key + 1, {head, tail, {0, 0, 0}});
    if (is_changed) mark_changed(arguments, 2 * key, state);
  }
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// Stable round-robin deal: one launch; the offsets have a closed form and are computed by the host.
//
// Dealing rows to n partitions is a transposition: row i is card c = i % n of deal k = i / n, and goes to row k of
// partition (c + start) % n. A block takes a tile of cards x deals, reads it along the cards (consecutive input rows),
// and writes it along the deals (consecutive output rows), through shared memory. With few partitions a tile
// holds whole deals, so its input is one contiguous piece; with more, both sides are runs of 32 to 64 elements.
// Bound: memory, 2 * row bytes. Micro-batches are bound by latency: their kernel takes one row per thread and four
// columns at once, so that loads, barrier and stores happen once.
//
// Launch shapes (Java repeats them):
//   round_robin_partition        ROUND_ROBIN_THREADS per block, `tiles` blocks, tile_cards * tile_deals <=
//                                ROUND_ROBIN_THREADS * ROUND_ROBIN_ROUNDS, tile_deals a power of two,
//                                shared: tile_cards * (tile_deals + padding) * 8 bytes
//   round_robin_partition_small  the same with tile_cards * tile_deals <= ROUND_ROBIN_THREADS; no dynamic shared memory

#include "partition_source.cuh"

namespace millrace {

constexpr int ROUND_ROBIN_THREADS = 512;
constexpr int ROUND_ROBIN_ROUNDS = 8;
constexpr int COLUMNS_AT_ONCE = 4;
constexpr int BANKS_OF_8_BYTES = 16;

// Elements between the cards of the staging area, so that neither writing along cards nor reading along deals makes a
// warp meet itself on one bank.
static __device__ __forceinline__ int padding_for(int tile_cards) {
  return tile_cards >= BANKS_OF_8_BYTES ? 1 : BANKS_OF_8_BYTES / tile_cards;
}

// The first output row of the partition that receives a card.
static __device__ __forceinline__ int32_t start_of_card(const RoundRobinArguments& arguments, int32_t card) {
  const uint32_t partitions = arguments.partitions;
  const uint32_t start = arguments.start_partition;
  const uint32_t last_deal = arguments.last_deal;
  uint32_t partition = card + start;
  if (partition >= partitions) partition -= partitions;
  // Partitions start .. start + last_deal - 1, wrapping around, hold one row more.
  const uint32_t wrapped = start + last_deal > partitions ? start + last_deal - partitions : 0;
  const uint32_t longer_before =
      min(partition, wrapped) + min(partition > start ? partition - start : 0, last_deal - wrapped);
  return static_cast<int32_t>(partition * static_cast<uint32_t>(arguments.whole_deals) + longer_before);
}

// Where this thread's elements come from, wait, and go.
template <int ROUNDS>
struct Dealt {
  int32_t input[ROUNDS];       // row, or -1
  uint16_t staged[ROUNDS];     // slot of the element read
  int32_t output[ROUNDS];      // row, or -1
  uint16_t collected[ROUNDS];  // slot of the element written
};

template <int ROUNDS>
static __device__ __forceinline__ void deal_tile(const RoundRobinArguments& arguments, Dealt<ROUNDS>& dealt) {
  const int cards = arguments.tile_cards;
  const int deals = arguments.tile_deals;
  const int deal_bits = 31 - __clz(deals);
  const int stride = deals + padding_for(cards);
  const int32_t first_card = static_cast<int32_t>(blockIdx.x % arguments.card_tiles) * cards;
  const int64_t first_deal = static_cast<int64_t>(blockIdx.x / arguments.card_tiles) * deals;
#pragma unroll
  for (int r = 0; r < ROUNDS; ++r) {
    int element = r * ROUND_ROBIN_THREADS + threadIdx.x;
    bool inside = element < cards * deals;
    int deal = static_cast<int>(fast_divide(element, arguments.card_multiplier));
    int card = element - deal * cards;
    int64_t row = (first_deal + deal) * arguments.partitions + first_card + card;
    bool present = inside && first_card + card < arguments.partitions && row < arguments.rows;
    dealt.input[r] = present ? static_cast<int32_t>(row) : -1;
    dealt.staged[r] = static_cast<uint16_t>(card * stride + deal);
    card = element >> deal_bits;
    deal = element & (deals - 1);
    row = (first_deal + deal) * arguments.partitions + first_card + card;
    present = inside && first_card + card < arguments.partitions && row < arguments.rows;
    dealt.output[r] = present ? static_cast<int32_t>(start_of_card(arguments, first_card + card) + first_deal + deal) : -1;
    dealt.collected[r] = static_cast<uint16_t>(card * stride + deal);
  }
}

template <typename Value>
static __device__ __forceinline__ void deal_column(const MovedColumn& column, const Dealt<ROUND_ROBIN_ROUNDS>& dealt) {
  extern __shared__ __align__(16) uint8_t stage_bytes[];
  Value* stage = reinterpret_cast<Value*>(stage_bytes);
  const Value* input = reinterpret_cast<const Value*>(column.input);
  Value value[ROUND_ROBIN_ROUNDS];
#pragma unroll
  for (int r = 0; r < ROUND_ROBIN_ROUNDS; ++r) {
    if (dealt.input[r] >= 0) {
      value[r] = input == nullptr ? static_cast<Value>(dealt.input[r]) : __ldcs(input + dealt.input[r]);
    }
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < ROUND_ROBIN_ROUNDS; ++r) {
    if (dealt.input[r] >= 0) stage[dealt.staged[r]] = value[r];
  }
  __syncthreads();
  Value* output = reinterpret_cast<Value*>(column.output);
#pragma unroll
  for (int r = 0; r < ROUND_ROBIN_ROUNDS; ++r) {
    if (dealt.output[r] >= 0) output[dealt.output[r]] = stage[dealt.collected[r]];
  }
}

// Columns of 16 bytes move as two halves through the same staging area.
static __device__ __forceinline__ void deal_wide_column(const MovedColumn& column, const Dealt<ROUND_ROBIN_ROUNDS>& dealt) {
  extern __shared__ __align__(16) uint8_t stage_bytes[];
  uint64_t* stage = reinterpret_cast<uint64_t*>(stage_bytes);
  const uint64_t* input = reinterpret_cast<const uint64_t*>(column.input);
  uint64_t* output = reinterpret_cast<uint64_t*>(column.output);
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROUND_ROBIN_ROUNDS; ++r) {
      if (dealt.input[r] >= 0) stage[dealt.staged[r]] = input[2 * static_cast<int64_t>(dealt.input[r]) + half];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROUND_ROBIN_ROUNDS; ++r) {
      if (dealt.output[r] >= 0) output[2 * static_cast<int64_t>(dealt.output[r]) + half] = stage[dealt.collected[r]];
    }
  }
}

// Half `half` of an element of 16 bytes, or the whole of a narrower one.
static __device__ __forceinline__ uint64_t load_bits(const MovedColumn& column, int64_t row, int half) {
  if (column.input == 0) return static_cast<uint64_t>(row);
  switch (column.width) {
    case 1: return reinterpret_cast<const uint8_t*>(column.input)[row];
    case 2: return reinterpret_cast<const uint16_t*>(column.input)[row];
    case 4: return reinterpret_cast<const uint32_t*>(column.input)[row];
    case 8: return reinterpret_cast<const uint64_t*>(column.input)[row];
    default: return reinterpret_cast<const uint64_t*>(column.input)[2 * row + half];
  }
}

static __device__ __forceinline__ void store_bits(const MovedColumn& column, int64_t row, int half, uint64_t bits) {
  switch (column.width) {
    case 1: reinterpret_cast<uint8_t*>(column.output)[row] = static_cast<uint8_t>(bits); break;
    case 2: reinterpret_cast<uint16_t*>(column.output)[row] = static_cast<uint16_t>(bits); break;
    case 4: reinterpret_cast<uint32_t*>(column.output)[row] = static_cast<uint32_t>(bits); break;
    case 8: reinterpret_cast<uint64_t*>(column.output)[row] = bits; break;
    default: reinterpret_cast<uint64_t*>(column.output)[2 * row + half] = bits;
  }
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(RoundRobinArguments);

extern "C" __global__ void __launch_bounds__(ROUND_ROBIN_THREADS, 2)
    round_robin_partition(const __grid_constant__ RoundRobinArguments arguments) {
  Dealt<ROUND_ROBIN_ROUNDS> dealt;
  deal_tile(arguments, dealt);
  for (int c = 0; c < arguments.columns; ++c) {
    const MovedColumn& column = arguments.column[c];
    switch (column.width) {
      case 1: deal_column<uint8_t>(column, dealt); break;
      case 2: deal_column<uint16_t>(column, dealt); break;
      case 4: deal_column<uint32_t>(column, dealt); break;
      case 8: deal_column<uint64_t>(column, dealt); break;
      default: deal_wide_column(column, dealt);
    }
  }
}

extern "C" __global__ void __launch_bounds__(ROUND_ROBIN_THREADS)
    round_robin_partition_small(const __grid_constant__ RoundRobinArguments arguments) {
  __shared__ uint64_t stage[COLUMNS_AT_ONCE][2 * ROUND_ROBIN_THREADS];
  Dealt<1> dealt;
  deal_tile(arguments, dealt);
  // A piece is a column, or one half of a column of 16 bytes.
  int column = 0;
  int half = 0;
  while (column < arguments.columns) {
    int pieces = 0;
    int piece_column[COLUMNS_AT_ONCE];
    int piece_half[COLUMNS_AT_ONCE];
    uint64_t bits[COLUMNS_AT_ONCE];
#pragma unroll
    for (int i = 0; i < COLUMNS_AT_ONCE; ++i) {
      piece_column[i] = column;
      piece_half[i] = half;
      if (column >= arguments.columns) continue;
      pieces = i + 1;
      if (dealt.input[0] >= 0) bits[i] = load_bits(arguments.column[column], dealt.input[0], half);
      half = arguments.column[column].width == 16 && half == 0 ? 1 : 0;
      if (half == 0) ++column;
    }
#pragma unroll
    for (int i = 0; i < COLUMNS_AT_ONCE; ++i) {
      if (i < pieces && dealt.input[0] >= 0) stage[i][dealt.staged[0]] = bits[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < COLUMNS_AT_ONCE; ++i) {
      if (i < pieces && dealt.output[0] >= 0) {
        store_bits(arguments.column[piece_column[i]], dealt.output[0], piece_half[i], stage[i][dealt.collected[0]]);
      }
    }
    if (column < arguments.columns) __syncthreads();
  }
}

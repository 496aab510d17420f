// Stable round-robin deal: one launch; the offsets have a closed form and are the host's business.
//
// Dealing rows to n partitions is a transposition: row i is card c = i % n of deal k = i / n, and goes to row k of
// partition (c + start) % n. A block takes a tile of cards x deals, reads it along the cards (consecutive input rows),
// and writes it along the deals (consecutive output rows), through shared memory. With up to TILE_CARDS partitions a tile
// holds whole deals, so its input is one contiguous piece; with more, both sides are runs of 32 to 64 elements.
// Bound: memory, 2 * row bytes. Micro-batches are bound by latency and have a kernel of their own: a thread a row, all
// columns in flight, scattered writes that the second-level cache joins.
//
// Launch shapes (Java repeats them):
//   round_robin_partition        ROUND_ROBIN_THREADS a block, `tiles` blocks, tile_cards * tile_deals <=
//                                ROUND_ROBIN_THREADS * ROUND_ROBIN_ROUNDS, tile_deals a power of two, tile_cards <=
//                                TILE_CARDS, shared: tile_cards * (tile_deals + padding) * 8 bytes
//   round_robin_partition_small  SMALL_DEAL_THREADS a block, ceil(rows / SMALL_DEAL_THREADS) blocks

#include "partition_source.cuh"
#include "row_mover.cuh"

namespace millrace {

constexpr int ROUND_ROBIN_THREADS = 512;
constexpr int ROUND_ROBIN_ROUNDS = 8;
constexpr int SMALL_DEAL_THREADS = 256;
constexpr int TILE_CARDS = 64;
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
struct Dealt {
  int32_t input[ROUND_ROBIN_ROUNDS];     // row, or -1
  uint16_t staged[ROUND_ROBIN_ROUNDS];   // slot of the element read
  int32_t output[ROUND_ROBIN_ROUNDS];    // row, or -1
  uint16_t collected[ROUND_ROBIN_ROUNDS];  // slot of the element written
};

static __device__ __forceinline__ void deal_tile(const RoundRobinArguments& arguments, const int32_t* starts,
                                                 Dealt& dealt) {
  const int cards = arguments.tile_cards;
  const int deals = arguments.tile_deals;
  const int deal_bits = 31 - __clz(deals);
  const int stride = deals + padding_for(cards);
  const uint64_t card_multiplier = cards == 1 ? 0 : ~0ull / cards + 1;
  const int32_t first_card = static_cast<int32_t>(blockIdx.x % arguments.card_tiles) * cards;
  const int64_t first_deal = static_cast<int64_t>(blockIdx.x / arguments.card_tiles) * deals;
#pragma unroll
  for (int r = 0; r < ROUND_ROBIN_ROUNDS; ++r) {
    int element = r * ROUND_ROBIN_THREADS + threadIdx.x;
    bool inside = element < cards * deals;
    int deal = static_cast<int>(fast_divide(element, card_multiplier));
    int card = element - deal * cards;
    int64_t row = (first_deal + deal) * arguments.partitions + first_card + card;
    bool present = inside && first_card + card < arguments.partitions && row < arguments.rows;
    dealt.input[r] = present ? static_cast<int32_t>(row) : -1;
    dealt.staged[r] = static_cast<uint16_t>(card * stride + deal);
    card = element >> deal_bits;
    deal = element & (deals - 1);
    row = (first_deal + deal) * arguments.partitions + first_card + card;
    present = inside && first_card + card < arguments.partitions && row < arguments.rows;
    dealt.output[r] = present ? static_cast<int32_t>(starts[card] + first_deal + deal) : -1;
    dealt.collected[r] = static_cast<uint16_t>(card * stride + deal);
  }
}

template <typename Value>
static __device__ __forceinline__ void deal_column(const MovedColumn& column, const Dealt& dealt) {
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
static __device__ __forceinline__ void deal_wide_column(const MovedColumn& column, const Dealt& dealt) {
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

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(RoundRobinArguments);

extern "C" __global__ void __launch_bounds__(ROUND_ROBIN_THREADS, 2)
    round_robin_partition(const __grid_constant__ RoundRobinArguments arguments) {
  __shared__ int32_t starts[TILE_CARDS];
  const int32_t first_card = static_cast<int32_t>(blockIdx.x % arguments.card_tiles) * arguments.tile_cards;
  if (threadIdx.x < arguments.tile_cards && first_card + static_cast<int32_t>(threadIdx.x) < arguments.partitions) {
    starts[threadIdx.x] = start_of_card(arguments, first_card + threadIdx.x);
  }
  __syncthreads();
  Dealt dealt;
  deal_tile(arguments, starts, dealt);
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

extern "C" __global__ void __launch_bounds__(SMALL_DEAL_THREADS)
    round_robin_partition_small(const __grid_constant__ RoundRobinArguments arguments) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * SMALL_DEAL_THREADS + threadIdx.x;
  if (row >= arguments.rows) return;
  const uint32_t deal = fast_divide(static_cast<uint32_t>(row), arguments.partitions_multiplier);
  const uint32_t card = static_cast<uint32_t>(row) - deal * arguments.partitions;
  const uint32_t destination[1] = {start_of_card(arguments, static_cast<int32_t>(card)) + deal};
  move_all_rows<1>(arguments.column, arguments.columns, row, 1, destination);
}

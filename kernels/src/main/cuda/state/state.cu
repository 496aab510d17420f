// SPDX-License-Identifier: Apache-2.0
// A batch against keyed state: two launches.
//
//   state_group   groups the rows of the batch by key in a hash table of its own, accumulates the values of the rows behind
//                 the row that came first to the table, the group's claimant, and finds or claims the key's index entry
//   state_update  combines the state row of each distinct key with its claimant's values and the accumulated ones, and
//                 writes the values before and after, as a changelog
//   state_index   moves the entries of an index to a larger one
//
// Nothing depends on the order in which threads run: operations are associative and commutative, a key is known by its
// first row in the batch, changed keys are numbered in the order of their first rows, and new keys get the next rows of
// the state in that order. Only the slots of the index differ between runs; they are never written to a checkpoint.
//
// Bound: the chain of dependent reads for micro-batches, and the number of random sectors for large batches with many keys.
// So both hash tables are probed a sector at a time, each kernel has half of the chain, and what belongs to a group lies at
// its claimant's row: a key with a single row, the usual one if there are many keys, costs one random write in the batch's
// table, and one read and one write of its state row.
//
// Launch shapes (Java repeats them): STATE_THREADS per block; state_group and state_index with any number of blocks,
// state_group with 8 bytes of shared memory per thread and word of an accumulator; state_update with `tiles` blocks, one
// row per thread.

// This file is compiled twice: for keys of fixed width, and in state_strings.cu for keys with strings.

#include "common/block.cuh"
#include "common/look_back.cuh"
#include "state_update.cuh"

namespace millrace {

constexpr int NEW_KEYS_SHIFT = 31;  // of the two counts in a word of the look-back
constexpr uint64_t CHANGED_KEYS = (uint64_t{1} << NEW_KEYS_SHIFT) - 1;

// Clears this tile's part of the batch's hash table.
static __device__ __forceinline__ void clear_groups(const StateArguments& arguments, int32_t tile) {
  const int64_t pairs = (static_cast<int64_t>(arguments.group_mask) + 1) / 2;
  const int64_t stride = static_cast<int64_t>(arguments.tiles) * STATE_THREADS;
  for (int64_t i = static_cast<int64_t>(tile) * STATE_THREADS + threadIdx.x; i < pairs; i += stride) {
    *slot_of<ulonglong2>(arguments.groups, i) = {0, 0};
  }
}

// What a block knows of the counts in a word of the look-back: changed keys, and new keys above.
struct BlockCounts {
  uint64_t total;
  uint64_t before_block;
};

// Counts of the threads before this one in the block. Publishes the counts of the block.
static __device__ __forceinline__ uint64_t counts_in_block(const StateArguments& arguments, int32_t tile, uint64_t own,
                                                           BlockCounts& block) {
  __shared__ uint64_t warp_sums[WARP];
  const uint64_t before = exclusive_scan_of_block<STATE_THREADS>(own, warp_sums);
  if (threadIdx.x == STATE_THREADS - 1) {
    block.total = before + own;
    publish_sum(slot_of<uint64_t>(arguments.look_back, 0), tile, block.total);
  }
  __syncthreads();
  return before;
}

// Counts of all blocks before.
static __device__ __forceinline__ uint64_t counts_before_block(const StateArguments& arguments, int32_t tile,
                                                               BlockCounts& block) {
  if (threadIdx.x < WARP) {
    const uint64_t sum = sum_before_published_tile(slot_of<uint64_t>(arguments.look_back, 0), tile, block.total);
    if (threadIdx.x == 0) {
      block.before_block = sum;
      if (tile == arguments.tiles - 1) {
        const uint64_t all = sum + block.total;
        *slot_of<volatile uint32_t>(arguments.counts, 0) = static_cast<uint32_t>(all & CHANGED_KEYS);
        *slot_of<volatile uint32_t>(arguments.counts, 1) = static_cast<uint32_t>(all >> NEW_KEYS_SHIFT);
      }
    }
  }
  __syncthreads();
  return block.before_block;
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(StateArguments);
MILLRACE_REPORT_SIZE(StateIndexArguments);

extern "C" __global__ void __launch_bounds__(STATE_THREADS) state_group(const __grid_constant__ StateArguments arguments) {
  extern __shared__ uint64_t partials_of_threads[];
  const uint32_t thread = blockIdx.x * STATE_THREADS + threadIdx.x;
  const uint32_t threads = gridDim.x * STATE_THREADS;
  for (uint32_t tile = thread; tile < arguments.tiles; tile += threads) *slot_of<uint64_t>(arguments.look_back, tile) = 0;
  if (thread == 0) *slot_of<uint32_t>(arguments.next_tile, 0) = 0;
  HotKey hot = {NO_GROUP, partials_of_threads + threadIdx.x};
  // All lanes of a warp make the same number of rounds.
  for (uint32_t first = thread - lane_of_thread(); first < arguments.rows; first += threads) {
    const uint32_t row = first + lane_of_thread();
    const uint64_t claim = claim_of_row(arguments, row);
    const bool is_row = row < arguments.rows;
    if (is_row) *slot_of<uint64_t>(arguments.claims, row) = claim;
    const uint32_t group = is_row ? claimant_of(claim, row) : NO_GROUP;
    choose_hot_key(arguments, hot, group);
    if (is_follower(claim)) accumulate(arguments, row, group, hot);
    __syncwarp();
  }
  accumulate_hot_keys(arguments, hot);
}

extern "C" __global__ void __launch_bounds__(STATE_THREADS) state_update(const __grid_constant__ StateArguments arguments) {
  __shared__ int32_t tile_of_block;
  if (threadIdx.x == 0) tile_of_block = atomicAdd(slot_of<int32_t>(arguments.next_tile, 0), 1);
  __syncthreads();
  const int32_t tile = tile_of_block;
  const uint32_t row = static_cast<uint32_t>(tile) * STATE_THREADS + threadIdx.x;
  Group group = {};
  const bool is_first = row < arguments.rows && find_group(arguments, row, group);
  const uint64_t own = is_first ? 1 | (group.is_new ? uint64_t{1} << NEW_KEYS_SHIFT : 0) : 0;
  __shared__ BlockCounts block;
  uint64_t before = counts_in_block(arguments, tile, own, block);
  // On their way while the block waits for the counts of those before.
  SectorUpdate update = {};
  if (is_first) update = read_sectors(arguments, group, arguments.partial_base);
  clear_groups(arguments, tile);
  before += counts_before_block(arguments, tile, block);
  if (!is_first) return;
  uint64_t* state = group.state;
  if (group.is_new) {
    state = add_row(arguments, row, group, arguments.state_rows + static_cast<int64_t>(before >> NEW_KEYS_SHIFT));
  } else if (is_expired(arguments, update.state)) {
    group.is_new = true;
    update.state = {};
  }
  update_row(arguments, row, group, state, update, 2 * static_cast<int64_t>(before & CHANGED_KEYS));
}

extern "C" __global__ void __launch_bounds__(STATE_THREADS)
    state_index(const __grid_constant__ StateIndexArguments arguments) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * STATE_THREADS;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(STATE_THREADS) + threadIdx.x; i < arguments.source_slots; i += stride) {
    const uint64_t entry = element_of<uint64_t>(arguments.source, i);
    if (entry == 0) continue;
    find_or_claim(
        arguments.target, arguments.target_mask, entry,
        first_bucket<BUCKET>(arguments.target, hash_of(entry), arguments.target_mask),
        [](uint32_t) { return false; }, [] {});
  }
}

// SPDX-License-Identifier: Apache-2.0
// A batch against keyed state: two launches.
//
//   state_group   groups the rows of the batch by key in a hash table of its own, accumulates the values of the rows behind
//                 the row that came first to the table, the group's claimant, and finds or claims the key's index entry
//   state_update  combines the state row of each distinct key with its claimant's values and the accumulated ones, and
//                 writes the values before and after, as a changelog
//   state_index   moves the entries of an index to a larger one
//
// If rows lie in host memory, there are further launches:
//
//   state_hash    before state_group, only if the index lies in host memory too: hashes, by which the rows are sorted
//   state_fetch   behind state_group and a sort of the claimants by the numbers of their state rows: copies these rows to the
//                 device, compares their keys, and writes them as they will be
//   state_return  only if values are combined in the order of the rows: behind all others, copies the rows back
//
// So a row crosses the bus once in each direction, and the rows of a warp are neighbours: in the order of the batch, the
// translation of addresses would take ten times as long as the bus. Two threads copy a sector, which crosses it as one.
//
// Nothing depends on the order in which threads run: operations are associative and commutative, a key is known by its
// first row in the batch, changed keys are numbered in the order of their first rows, and new keys get the next rows of
// the state in that order. Only the slots of the index differ between runs; they are never written to a checkpoint.
//
// Bound: the chain of dependent reads for micro-batches, and the number of random sectors for large batches with many keys.
// So both hash tables are probed a sector at a time, each kernel has half of the chain, and what belongs to a group lies at
// its claimant's row: a key with a single row, the usual one if there are many keys, costs one random write in the batch's
// table, a read of two buckets of the index, and one read and one write of its state row.
//
// Launch shapes (Java repeats them): STATE_THREADS per block; state_group and state_index with any number of blocks,
// state_group with 8 bytes of shared memory per thread and word of an accumulator; state_update with `tiles` blocks, one
// row per thread; state_hash with one thread per row of the batch, state_return with two, state_fetch with any number of blocks.

// This file is compiled twice: for keys of fixed width, and in state_strings.cu for keys with strings.

#include "common/block.cuh"
#include "common/look_back.cuh"
#include "state_update.cuh"

namespace millrace {

constexpr int NEW_KEYS_SHIFT = 31;  // of the two counts in a word of the look-back; Java repeats it
constexpr uint64_t CHANGED_KEYS = (uint64_t{1} << NEW_KEYS_SHIFT) - 1;

// Clears this tile's part of the batch's hash table.
static __device__ __forceinline__ void clear_groups(const StateArguments& arguments, int32_t tile) {
  const int64_t pairs = (static_cast<int64_t>(arguments.group_mask) + 1) / 2;
  const int64_t stride = static_cast<int64_t>(arguments.tiles) * STATE_THREADS;
  for (int64_t i = static_cast<int64_t>(tile) * STATE_THREADS + threadIdx.x; i < pairs; i += stride) {
    *slot_of<ulonglong2>(arguments.groups, i) = {0, 0};
  }
}

// Copies one half of each sector of a row from a word on.
static __device__ __forceinline__ void copy_half_sectors(uint64_t* target, const uint64_t* source, int first, int words,
                                                         int half) {
  constexpr int HALF = SECTOR_WORDS / 2;
  for (int word = first + half * HALF; word < words; word += SECTOR_WORDS) {
    *reinterpret_cast<ulonglong2*>(target + word) = *reinterpret_cast<const ulonglong2*>(source + word);
  }
}

// Compares the key of a row of the batch with the copy of a state row that has the key's hash.
static __device__ __forceinline__ bool claim_staged(const StateArguments& arguments, uint32_t row, uint32_t number,
                                                    uint64_t* staged) {
  uint64_t* claim = slot_of<uint64_t>(arguments.claims, row);
  if (is_key_of(arguments, row, staged)) {
    mark_page(arguments, number);
    *claim = reinterpret_cast<uint64_t>(staged);
    return true;
  }
  const uint32_t hash = hash_of_key(arguments, row);
  BucketPair pair = BucketPair::of_hash(arguments.index, arguments.index_buckets, hash);
  *claim = claim_of_slot(arguments, index_slot(arguments, hash, pair, [&](uint32_t state_number) {
                           return is_key_of(arguments, row, state_row(arguments, state_number));
                         }));
  return false;
}

static __device__ __forceinline__ Group group_of_claimant(const StateArguments& arguments, uint32_t claimant,
                                                          uint64_t* state) {
  const uint64_t followers = element_of<uint64_t>(arguments.followers, claimant);
  return {claimant, hash_of(followers) == arguments.batch, false, state};
}

// Writes the state row as it will be behind state_update, which reads the copy and writes only there: read and written at
// once, a page of host memory is translated once. Two threads write a sector; the first one has the group. Every thread of
// a warp calls it; the group of those that write nothing has no state.
static __device__ __forceinline__ void return_early(const StateArguments& arguments, const Group& group, uint64_t* state,
                                                    int half) {
  const int first_lane = lane_of_thread() - half;
  const bool writes = __shfl_sync(ALL_LANES, group.state != nullptr, first_lane);
  const bool combines = writes && half == 0;
  Change change = {};
  uint64_t batch_carry = 0;
  bool is_new = false;
  for (int word = arguments.partial_base; word < arguments.row_words; word += SECTOR_WORDS) {
    SectorUpdate update = {};
    if (combines) {
      update = read_sectors(arguments, group, word);
      if (word == arguments.partial_base) is_new = is_expired(arguments, update.state);
      if (is_new) update.state = {};
      add_claimant(arguments, group, word, update.batch, batch_carry);
      combine_sector<false>(arguments, update, word, 0, change);
      if (is_new) keep_key(arguments, update.state, group.state, word);
    }
    const uint64_t third = __shfl_sync(ALL_LANES, update.state.word[2], first_lane);
    const uint64_t fourth = __shfl_sync(ALL_LANES, update.state.word[3], first_lane);
    ulonglong2* target = reinterpret_cast<ulonglong2*>(state + word) + half;
    if (writes) *target = half == 0 ? ulonglong2{update.state.word[0], update.state.word[1]} : ulonglong2{third, fourth};
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
        *slot_of<volatile uint64_t>(arguments.counts, 0) = all;
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

extern "C" __global__ void __launch_bounds__(STATE_THREADS, 4) state_group(const __grid_constant__ StateArguments arguments) {
  extern __shared__ uint64_t partials_of_threads[];
  const uint32_t thread = blockIdx.x * STATE_THREADS + threadIdx.x;
  const uint32_t threads = gridDim.x * STATE_THREADS;
  for (uint32_t tile = thread; tile < arguments.tiles; tile += threads) *slot_of<uint64_t>(arguments.look_back, tile) = 0;
  if (thread == 0) *slot_of<uint32_t>(arguments.next_tile, 0) = 0;
  HotKey hot = {NO_GROUP, partials_of_threads + threadIdx.x};
  // All lanes of a warp make the same number of rounds.
  for (uint32_t first = thread - lane_of_thread(); first < arguments.rows; first += threads) {
    const uint32_t at = first + lane_of_thread();
    const bool is_row = at < arguments.rows;
    const uint32_t row = is_row && arguments.order != 0 ? element_of<uint32_t>(arguments.order, at) : at;
    const uint64_t claim = claim_of_row(arguments, row);
    if (is_row) *slot_of<uint64_t>(arguments.claims, row) = claim;
    if (is_row && arguments.host_chunks != 0) note_staged(arguments, at, row, claim);
    const uint32_t group = is_row ? claimant_of(claim, row) : NO_GROUP;
    choose_hot_key(arguments, hot, group);
    if (is_follower(claim)) accumulate(arguments, row, group, hot);
    __syncwarp();
  }
  accumulate_hot_keys(arguments, hot);
}

// Notes the hash of each row, by which the rows are sorted then, if the index lies in host memory: state_group takes them in
// the order of their buckets.
extern "C" __global__ void __launch_bounds__(STATE_THREADS) state_hash(const __grid_constant__ StateArguments arguments) {
  const uint32_t row = blockIdx.x * STATE_THREADS + threadIdx.x;
  if (row >= arguments.rows) return;
  *slot_of<uint32_t>(arguments.staged_numbers, row) = hash_of_key(arguments, row);
  *slot_of<uint32_t>(arguments.staged_rows, row) = row;
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

// Fetches the row at a position of the order, of which each of two threads has a half. Every thread of a warp calls it.
static __device__ __forceinline__ void fetch(const StateArguments& arguments, uint32_t at, int half) {
  const uint32_t number = at < arguments.rows ? element_of<uint32_t>(arguments.staged_numbers, at) : NOT_STAGED;
  uint64_t* staged = slot_of<uint64_t>(arguments.staged, static_cast<int64_t>(at) * arguments.row_words);
  uint64_t* state = number == NOT_STAGED ? nullptr : state_row(arguments, number);
  if (state != nullptr) copy_half_sectors(staged, state, 0, arguments.row_words, half);
  __syncwarp();
  Group group = {};
  if (state != nullptr && half == 0) {
    const uint32_t row = element_of<uint32_t>(arguments.staged_rows, at);
    if (claim_staged(arguments, row, number, staged)) {
      group = group_of_claimant(arguments, row, staged);
    } else {
      *slot_of<uint32_t>(arguments.staged_numbers, at) = NOT_STAGED;
    }
  }
  if (arguments.positions == 0) return_early(arguments, group, state, half);
}

extern "C" __global__ void __launch_bounds__(STATE_THREADS, 4) state_fetch(const __grid_constant__ StateArguments arguments) {
  constexpr uint32_t ROWS = STATE_THREADS / 2;
  for (uint32_t first = blockIdx.x * ROWS; first < arguments.rows; first += gridDim.x * ROWS) {
    fetch(arguments, first + threadIdx.x / 2, threadIdx.x % 2);
  }
}

extern "C" __global__ void __launch_bounds__(STATE_THREADS) state_return(const __grid_constant__ StateArguments arguments) {
  const uint32_t at = (blockIdx.x * STATE_THREADS + threadIdx.x) / 2;
  const uint32_t number = at < arguments.rows ? element_of<uint32_t>(arguments.staged_numbers, at) : NOT_STAGED;
  if (number == NOT_STAGED) return;
  const uint64_t* staged = slot_of<uint64_t>(arguments.staged, static_cast<int64_t>(at) * arguments.row_words);
  copy_half_sectors(state_row(arguments, number), staged, arguments.partial_base, arguments.row_words, threadIdx.x % 2);
}

extern "C" __global__ void __launch_bounds__(STATE_THREADS)
    state_index(const __grid_constant__ StateIndexArguments arguments) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * STATE_THREADS;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(STATE_THREADS) + threadIdx.x; i < arguments.source_slots; i += stride) {
    const uint64_t entry = element_of<uint64_t>(arguments.source, i);
    if (entry == 0) continue;
    BucketPair pair = BucketPair::of_hash(arguments.target, arguments.target_buckets, hash_of(entry));
    claim_in_index(arguments.target, arguments.target_buckets, entry, pair);
  }
}

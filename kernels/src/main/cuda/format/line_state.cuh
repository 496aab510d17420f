// SPDX-License-Identifier: Apache-2.0
// Whether a byte of CSV is within quotes: a state machine whose steps are functions of states, so that they can be joined in any
// grouping. A quote opens a field only as its first character; what is behind a quote that closed a field is part of no field.
#pragma once

#include "common/block.cuh"
#include "common/look_back.cuh"
#include "text_cursor.cuh"

namespace millrace {

// The state behind a byte. Java repeats it.
enum LineState : uint32_t {
  STATE_START,           // of a field
  STATE_PLAIN,           // in a field without quotes
  STATE_QUOTED,
  STATE_CLOSED,          // behind a quote that closes the field or is the first of two
  STATE_ESCAPED,         // behind an escape in a field without quotes
  STATE_QUOTED_ESCAPED,  // behind an escape within quotes
};

constexpr int STATES = 6;
constexpr int STATE_BITS = 4;

// A step: the state behind it for each state in front of it.
constexpr uint32_t line_step(uint32_t start, uint32_t plain, uint32_t quoted, uint32_t closed, uint32_t escaped,
                             uint32_t quoted_escaped) {
  return start | plain << STATE_BITS | quoted << (2 * STATE_BITS) | closed << (3 * STATE_BITS) | escaped << (4 * STATE_BITS) |
         quoted_escaped << (5 * STATE_BITS);
}

constexpr uint32_t LINE_SAME =
    line_step(STATE_START, STATE_PLAIN, STATE_QUOTED, STATE_CLOSED, STATE_ESCAPED, STATE_QUOTED_ESCAPED);
constexpr uint32_t LINE_OTHER = line_step(STATE_PLAIN, STATE_PLAIN, STATE_QUOTED, STATE_PLAIN, STATE_PLAIN, STATE_QUOTED);
constexpr uint32_t LINE_DELIMITER = line_step(STATE_START, STATE_START, STATE_QUOTED, STATE_START, STATE_PLAIN, STATE_QUOTED);
constexpr uint32_t LINE_QUOTE = line_step(STATE_QUOTED, STATE_PLAIN, STATE_CLOSED, STATE_QUOTED, STATE_PLAIN, STATE_QUOTED);
constexpr uint32_t LINE_FEED = line_step(STATE_START, STATE_START, STATE_QUOTED, STATE_START, STATE_START, STATE_QUOTED);
constexpr uint32_t LINE_ESCAPE =
    line_step(STATE_ESCAPED, STATE_ESCAPED, STATE_QUOTED_ESCAPED, STATE_ESCAPED, STATE_PLAIN, STATE_QUOTED);

// The step to one state from all.
static __device__ __forceinline__ uint32_t always(uint32_t state) { return state * 0x111111u; }

// The state behind a step that leads to one state from all.
static __device__ __forceinline__ uint32_t state_after(uint32_t step) { return step & ((1u << STATE_BITS) - 1); }

static __device__ __forceinline__ bool is_quoted(uint32_t state) {
  return state == STATE_QUOTED || state == STATE_QUOTED_ESCAPED;
}

// Two steps in one.
static __device__ __forceinline__ uint32_t then(uint32_t first, uint32_t second) {
  uint32_t step = 0;
#pragma unroll
  for (int shift = 0; shift < STATES * STATE_BITS; shift += STATE_BITS) {
    step |= state_after(second >> (STATE_BITS * state_after(first >> shift))) << shift;
  }
  return step;
}

// The steps of the threads before this one, and of all threads of the block, which all call it.
template <int WARPS>
static __device__ __forceinline__ uint32_t steps_before_thread(uint32_t own, uint32_t* warp_steps, uint32_t& total) {
  uint32_t steps = own;
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    const uint32_t before = __shfl_up_sync(ALL_LANES, steps, distance);
    if (lane_of_thread() >= distance) steps = then(before, steps);
  }
  if (lane_of_thread() == WARP - 1) warp_steps[warp_of_thread()] = steps;
  uint32_t before = __shfl_up_sync(ALL_LANES, steps, 1);
  if (lane_of_thread() == 0) before = LINE_SAME;
  __syncthreads();
  uint32_t before_warp = LINE_SAME;
  total = LINE_SAME;
#pragma unroll
  for (int warp = 0; warp < WARPS; ++warp) {
    if (warp == warp_of_thread()) before_warp = total;
    total = then(total, warp_steps[warp]);
  }
  return then(before_warp, before);
}

// The state in front of a tile whose bytes are `steps`; as sum_before_tile does for sums, but the order of tiles matters. All lanes
// of one warp of the block call it.
static __device__ __forceinline__ uint32_t state_before_tile(uint64_t* words, int32_t tile, uint32_t steps) {
  if (lane_of_thread() == 0) publish_sum(words, tile, steps);
  uint32_t behind = LINE_SAME;  // the steps of the tiles that were looked at
  for (int32_t last = tile - 1;; last -= WARP) {
    const uint64_t word = wait_for_tile(words, last - lane_of_thread());
    __syncwarp();
    const bool is_prefix = look_back_state(word) == LOOK_BACK_PREFIX;
    const uint32_t prefixes = __ballot_sync(ALL_LANES, is_prefix);
    const int32_t nearest = prefixes == 0 ? WARP : __ffs(prefixes) - 1;
    const uint32_t value = static_cast<uint32_t>(word & LOOK_BACK_SUM);
    uint32_t joined = lane_of_thread() < nearest ? value : LINE_SAME;
    if (lane_of_thread() == nearest) joined = always(value);
    // Higher lanes have earlier tiles.
#pragma unroll
    for (int distance = 1; distance < WARP; distance *= 2) {
      joined = then(__shfl_down_sync(ALL_LANES, joined, distance), joined);
    }
    behind = then(__shfl_sync(ALL_LANES, joined, 0), behind);
    if (prefixes != 0) break;
  }
  const uint32_t state = state_after(behind);
  volatile uint64_t* own = words + tile;
  if (lane_of_thread() == 0) *own = LOOK_BACK_PREFIX << LOOK_BACK_STATE_SHIFT | state_after(then(behind, steps));
  return state;
}

}  // namespace millrace

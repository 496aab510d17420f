// SPDX-License-Identifier: Apache-2.0
// The argument structures of the partitioning kernels; common/arguments.cuh says how they are laid out.
#pragma once

#include "common/arguments.cuh"
#include "hash/key_column.cuh"

namespace millrace {

enum HashFunctionId : int32_t {
  HASH_MURMUR3_32 = 0,       // libcudf's numbering
  HASH_IDENTITY = 1,         // libcudf's numbering
  HASH_FLINK_JAVA = 2,       // Object.hashCode() of the key
  HASH_FLINK_BINARY_ROW = 3  // BinaryRowData.hashCode() of the key row
};

enum Numbering : int32_t {
  NUMBER_BY_MODULO = 0,
  NUMBER_BY_MASK = 1,        // the partition count is a power of two
  NUMBER_BY_KEY_GROUP = 2,   // the key group itself
  NUMBER_BY_OPERATOR = 3     // the subtask that owns the key group
};

constexpr int32_t MAX_KEY_COLUMNS = 16;
constexpr int32_t MAX_COLUMNS = 48;
constexpr int32_t CONTROL_SLOTS = 4096;

// How a hash becomes a partition number. The multipliers are ceil(2^64 / divisor), modulo 2^64.
struct PartitionRule {
  uint64_t partitions_multiplier;
  uint64_t maximum_parallelism_multiplier;
  int32_t hash_function;
  uint32_t seed;
  int32_t numbering;
  int32_t partitions;
  int32_t maximum_parallelism;
  int32_t parallelism;
};

// A fixed-width column to move. Input 0 stands for the row number: its output is the gather map.
struct MovedColumn {
  uint64_t input;  // already advanced to the first row of the slice
  uint64_t output;
  int32_t width;   // 1, 2, 4, 8 or 16 bytes
  int32_t reserved;
};

// The arguments of partition_*. Scratch memory:
//   counts    int32[partitions * count_stride]: rows of each partition in each chunk, then the rows before that chunk;
//             16-byte aligned
//   totals    int32[partitions]
//   ids       id_width bytes per row (1, 2 or 4): the partition of each row
struct PartitionArguments {
  uint64_t counts;
  uint64_t totals;
  uint64_t ids;
  uint64_t device_offsets;  // int32[partitions + 1]; never 0
  uint64_t host_offsets;    // the same, in mapped host memory; 0: not wanted
  uint64_t map;             // partition map; 0: the keys decide
  int32_t rows;
  int32_t partitions;
  int32_t chunks;           // contiguous row ranges, one per block
  int32_t count_stride;     // chunks, rounded up to a multiple of 4
  int32_t id_width;
  int32_t map_width;        // 1, 2, 4 or 8 bytes
  int32_t map_shift;        // the digit of a multi-pass partitioning: (map >> shift) & mask
  uint32_t map_mask;
  int32_t key_columns;
  int32_t nulls_present;    // libcudf hashes struct levels only when some key is null
  int32_t columns;
  int32_t tile_rows;        // rows per chunk; the small kernels know theirs
  int32_t control_slot;     // below CONTROL_SLOTS; two launches that may run at once need different ones
  int32_t reserved;
  PartitionRule rule;
  KeyColumn key[MAX_KEY_COLUMNS];
  MovedColumn column[MAX_COLUMNS];
};

// The arguments of partition_offsets: the starts of the partitions in ascending ids.
struct SortedOffsetsArguments {
  uint64_t ids;  // int32[rows], ascending
  uint64_t device_offsets;
  uint64_t host_offsets;
  int32_t rows;
  int32_t partitions;
};

// The arguments of round_robin_partition. Row i is card `i % partitions` of deal `i / partitions`; card c goes to
// partition `(c + start) % partitions`.
struct RoundRobinArguments {
  int32_t rows;
  int32_t partitions;
  int32_t start_partition;
  int32_t columns;
  int32_t tile_cards;  // cards (columns of the deal matrix) in a tile
  int32_t tile_deals;  // deals (rows of the deal matrix) in a tile
  int32_t card_tiles;  // tiles side by side
  int32_t tiles;
  int32_t whole_deals;  // rows / partitions
  int32_t last_deal;    // rows % partitions
  uint64_t partitions_multiplier;
  uint64_t card_multiplier;  // of tile_cards
  MovedColumn column[MAX_COLUMNS];
};

}  // namespace millrace

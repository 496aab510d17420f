// SPDX-License-Identifier: Apache-2.0
// From a row to the number of its partition: by keys (any, or one plain integer column) or by a given map.
#pragma once

#include "hash/binary_row_hash.cuh"
#include "hash/hash.cuh"
#include "hash/java_hash.cuh"

namespace millrace {

MILLRACE_FUNCTION uint64_t high_product(uint64_t left, uint64_t right) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(left, right);
#else
  return static_cast<uint64_t>((static_cast<unsigned __int128>(left) * right) >> 64);
#endif
}

// value % divisor by two multiplications; the multiplier is ceil(2^64 / divisor), 0 for divisor 1. Exact for 32 bits.
MILLRACE_FUNCTION uint32_t fast_modulo(uint32_t value, uint64_t multiplier, uint32_t divisor) {
  return static_cast<uint32_t>(high_product(multiplier * value, divisor));
}

MILLRACE_FUNCTION uint32_t fast_divide(uint32_t value, uint64_t multiplier) {
  return multiplier == 0 ? value : static_cast<uint32_t>(high_product(multiplier, value));
}

// Flink's MathUtils.murmurHash: never negative.
MILLRACE_FUNCTION uint32_t flink_murmur_hash(uint32_t code) {
  int32_t hash = static_cast<int32_t>(murmur_of_word(0, code));
  if (hash >= 0) return static_cast<uint32_t>(hash);
  return hash == INT32_MIN ? 0 : static_cast<uint32_t>(-hash);
}

MILLRACE_FUNCTION uint32_t partition_of_hash(const PartitionRule& rule, uint32_t hash) {
  if (rule.numbering == NUMBER_BY_MASK) return hash & (rule.partitions - 1);
  if (rule.numbering == NUMBER_BY_MODULO) return fast_modulo(hash, rule.partitions_multiplier, rule.partitions);
  uint32_t key_group =
      fast_modulo(flink_murmur_hash(hash), rule.maximum_parallelism_multiplier, rule.maximum_parallelism);
  if (rule.numbering == NUMBER_BY_KEY_GROUP) return key_group;
  return fast_divide(key_group * rule.parallelism, rule.maximum_parallelism_multiplier);
}

MILLRACE_FUNCTION uint32_t hash_of_row(const PartitionArguments& arguments, int32_t row) {
  switch (arguments.rule.hash_function) {
    case HASH_FLINK_JAVA: return java_hash_of_row(arguments, row);
    case HASH_FLINK_BINARY_ROW: return binary_row_hash_of_row(arguments, row);
    default: return libcudf_hash_of_row(arguments, row);
  }
}

#if defined(__CUDACC__)
// A call, not a copy in every round of every kernel: the code is large and its time is the memory's.
static __host__ __device__ __noinline__ uint32_t partition_of_any_keys(const PartitionArguments& arguments, int32_t row) {
  return partition_of_hash(arguments.rule, hash_of_row(arguments, row));
}
#else
inline uint32_t partition_of_any_keys(const PartitionArguments& arguments, int32_t row) {
  return partition_of_hash(arguments.rule, hash_of_row(arguments, row));
}
#endif

// Any key columns.
struct AnyKeys {
  using Loaded = int32_t;

  static MILLRACE_FUNCTION Loaded load(const PartitionArguments&, int32_t row) { return row; }

  static MILLRACE_FUNCTION uint32_t partition(const PartitionArguments& arguments, Loaded row) {
    return partition_of_any_keys(arguments, row);
  }
};

MILLRACE_FUNCTION uint32_t binary_row_hash_of_one_slot(uint64_t slot) {
  return murmur_finish(mix_long(mix_long(BINARY_ROW_SEED, 0), slot), 16);
}

// One INT64 column (or, outside Java hashing, TIMESTAMP_MILLIS or DECIMAL64) without nulls.
struct OneLong {
  using Loaded = uint64_t;

  static MILLRACE_FUNCTION Loaded load(const PartitionArguments& arguments, int32_t row) {
    return element_of<uint64_t>(arguments.key[0].data, arguments.key[0].row_offset + row);
  }

  static MILLRACE_FUNCTION uint32_t hash(const PartitionRule& rule, Loaded value) {
    switch (rule.hash_function) {
      case HASH_MURMUR3_32: return murmur_of_long(rule.seed, value);
      case HASH_FLINK_JAVA: return java_hash_of_long(value);
      case HASH_FLINK_BINARY_ROW: return binary_row_hash_of_one_slot(value);
      default: return static_cast<uint32_t>(value);
    }
  }

  static MILLRACE_FUNCTION uint32_t partition(const PartitionArguments& arguments, Loaded value) {
    return partition_of_hash(arguments.rule, hash(arguments.rule, value));
  }
};

// One INT32 column (or, outside Java hashing, DATE or TIME) without nulls.
struct OneInt {
  using Loaded = uint32_t;

  static MILLRACE_FUNCTION Loaded load(const PartitionArguments& arguments, int32_t row) {
    return element_of<uint32_t>(arguments.key[0].data, arguments.key[0].row_offset + row);
  }

  static MILLRACE_FUNCTION uint32_t hash(const PartitionRule& rule, Loaded value) {
    switch (rule.hash_function) {
      case HASH_MURMUR3_32: return murmur_of_word(rule.seed, value);
      case HASH_FLINK_BINARY_ROW: return binary_row_hash_of_one_slot(value);
      default: return value;
    }
  }

  static MILLRACE_FUNCTION uint32_t partition(const PartitionArguments& arguments, Loaded value) {
    return partition_of_hash(arguments.rule, hash(arguments.rule, value));
  }
};

MILLRACE_FUNCTION uint32_t hash_of_string(const PartitionRule& rule, const ByteRange& range) {
  switch (rule.hash_function) {
    case HASH_FLINK_JAVA: return java_hash_of_string(range);
    case HASH_FLINK_BINARY_ROW: return binary_row_hash_of_one_string(range);
    default: return murmur_of_bytes(rule.seed, range);
  }
}

// One STRING or BINARY column outside structs. (BINARY is not hashed with HASH_FLINK_JAVA here.)
struct OneString {
  // Where the bytes are in the column; a null has a negative length.
  struct Loaded {
    int32_t begin;
    int32_t length;
  };

  static MILLRACE_FUNCTION Loaded load(const PartitionArguments& arguments, int32_t row) {
    const KeyColumn& key = arguments.key[0];
    const int64_t index = key.row_offset + row;
    if (key.validity != 0 && !bit_of(key.validity, index)) return {0, -1};
    const int32_t begin = element_of<int32_t>(key.offsets, index);
    return {begin, element_of<int32_t>(key.offsets, index + 1) - begin};
  }

  static MILLRACE_FUNCTION uint32_t hash_of_null(const PartitionRule& rule) {
    switch (rule.hash_function) {
      case HASH_FLINK_JAVA: return 0;
      case HASH_FLINK_BINARY_ROW: return binary_row_hash_of_one_null();
      default: return NULL_HASH;
    }
  }

  static MILLRACE_FUNCTION uint32_t partition(const PartitionArguments& arguments, Loaded loaded) {
    const PartitionRule& rule = arguments.rule;
    if (loaded.length < 0) return partition_of_hash(rule, hash_of_null(rule));
    const ByteRange range = bytes_at(arguments.key[0], loaded.begin, loaded.length);
    return partition_of_hash(rule, hash_of_string(rule, range));
  }
};

// A partition map, or one digit of it. Numbers outside the range are undefined behaviour; they stay in bounds here.
struct GivenMap {
  using Loaded = uint32_t;

  static MILLRACE_FUNCTION Loaded load(const PartitionArguments& arguments, int32_t row) {
    switch (arguments.map_width) {
      case 1: return element_of<uint8_t>(arguments.map, row);
      case 2: return element_of<uint16_t>(arguments.map, row);
      case 4: return element_of<uint32_t>(arguments.map, row);
      default: return static_cast<uint32_t>(element_of<uint64_t>(arguments.map, row));
    }
  }

  static MILLRACE_FUNCTION uint32_t partition(const PartitionArguments& arguments, Loaded value) {
    uint32_t digit = (value >> arguments.map_shift) & arguments.map_mask;
    uint32_t last = static_cast<uint32_t>(arguments.partitions - 1);
    return digit < last ? digit : last;
  }
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// The columns of a key, as Java passes them.
#pragma once

#include <cstdint>

namespace millrace {

// What a column holds. The numbers are shared with Java.
enum KeyType : int32_t {
  KEY_BOOL = 0,               // 1 byte, 0 or 1
  KEY_INT8 = 1,
  KEY_INT16 = 2,
  KEY_INT32 = 3,
  KEY_INT64 = 4,
  KEY_FLOAT32 = 5,
  KEY_FLOAT64 = 6,
  KEY_DECIMAL32 = 7,          // unscaled value
  KEY_DECIMAL64 = 8,
  KEY_DECIMAL128 = 9,         // little-endian, 16 bytes
  KEY_DATE = 10,              // int32 days
  KEY_TIME = 11,              // int32 milliseconds
  KEY_TIMESTAMP_MILLIS = 12,  // int64
  KEY_TIMESTAMP_MICROS = 13,  // int64
  KEY_TIMESTAMP_NANOS = 14,   // int64 milliseconds in `data`, int32 nanoseconds of the millisecond in `nanos`
  KEY_STRING = 15,            // UTF-8 bytes in `data`, int32 offsets in `offsets`
  KEY_BINARY = 16,            // as KEY_STRING
  KEY_STRUCT = 17             // a struct level: only its validity counts; its fields follow, depth first
};

constexpr int32_t NO_PARENT = -1;

// One key column, or one struct level. Element i of the batch is at index `row_offset + i` of every buffer.
struct KeyColumn {
  uint64_t data;
  uint64_t validity;  // bit mask, least significant bit first; 0: no nulls
  uint64_t offsets;   // strings only
  uint64_t nanos;     // KEY_TIMESTAMP_NANOS only
  int64_t row_offset;
  int32_t type;
  int32_t precision;  // decimals only
  int32_t parent;     // index of the struct level that holds this column, or NO_PARENT
  int32_t modifier;    // decimals: the scale; timestamps: 1 if they are instants (TIMESTAMP_LTZ), else 0
};

}  // namespace millrace

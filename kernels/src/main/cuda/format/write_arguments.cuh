// SPDX-License-Identifier: Apache-2.0
// What the kernels that write records are told. Java declares the same structures.
#pragma once

#include <cstdint>

namespace millrace {

constexpr int WRITE_DEPTH = 8;  // of lists and dictionaries in each other

// What a step writes behind its text. Java repeats the numbers.
enum WriteKind : int32_t {
  WRITE_TEXT,              // nothing
  WRITE_BOOL,
  WRITE_INTEGER,           // `width` bytes
  WRITE_FLOAT,             // `width` bytes; quoted only if it is not finite
  WRITE_DECIMAL,           // `width` bytes
  WRITE_DATE,
  WRITE_TIME,
  WRITE_TIMESTAMP,         // in units of `width` nanoseconds, or in milliseconds and nanoseconds if 1
  WRITE_BASE64,
  WRITE_ESCAPED,           // a string between quotes, with the escapes of JSON
  WRITE_BYTES,             // a string as it is
  WRITE_LIST_BEGIN,        // goes on at `next` + 1 if the list is empty
  WRITE_LIST_END,          // goes on at `next` for each further element
  WRITE_DICTIONARY_BEGIN,  // what follows is read at the index, up to the end
  WRITE_DICTIONARY_END,
  WRITE_FIELD_BEGIN,       // what follows is a field of CSV, up to the end
  WRITE_FIELD_END,         // goes on at `next` for the second pass over the field
  WRITE_VARINT,            // an integer of `width` bytes as Avro's variable-length number
  WRITE_FIXED,             // `width` bytes, the lowest one first
  WRITE_SIZED,             // a string behind its length as a variable-length number
  WRITE_UNSCALED,          // the unscaled value of a decimal of `width` bytes as a sized string, the highest byte first
  WRITE_BLOCK_BEGIN,       // a list as a block of Avro; goes on at `next` + 1 if the list is empty
  WRITE_BLOCK_END,         // goes on at `next` for each further element
};

// The form of a timestamp as text. Java repeats the numbers.
constexpr int32_t TIMESTAMP_HAS_ZONE = 1;
constexpr int32_t TIMESTAMP_HAS_SPACE = 2;

struct WriteStep {
  int32_t kind;
  int32_t column;
  int32_t text;        // bytes from the plan to the text, in words
  int32_t text_bytes;
  int32_t null_bytes;  // of `null_text` that are written for a null, behind the text; -1 if the value may not be null
  int32_t null_next;   // the step behind a null
  int32_t next;
  int32_t width;
  int32_t precision;   // of a timestamp
  int32_t scale;       // of a decimal; the form of a timestamp: TIMESTAMP_HAS_ZONE, TIMESTAMP_HAS_SPACE
  int32_t is_quoted;
  int32_t null_text;   // up to four bytes, the first one lowest
};

// The addresses of the first row.
struct WriteColumn {
  uint64_t values;
  uint64_t second;    // of a string or list: int32 offsets, one more than rows; of a timestamp: int32 nanoseconds
  uint64_t validity;  // the address of a bit: that of its byte times 8, and the number of the bit; 0 if there are no nulls
};

struct WriteArguments {
  uint64_t plan;       // WriteStep, then their text
  uint64_t powers;     // of ten from WRITE_MIN_POWER on: 126 bits as two words of 63, the high one first
  uint64_t columns;    // WriteColumn
  uint64_t positions;  // int32 position of each record, one more than rows
  uint64_t bytes;      // where the records go
  uint64_t look_back;  // a counter and a word for each tile, zero before
  uint64_t result;     // mapped host memory: int64 bytes of all records
  int32_t steps;
  int32_t rows;
  int32_t tiles;       // of write_measure
  int32_t delimiter;   // of fields of CSV
};

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// What the kernels that read Avro find behind the fields. Java declares the same structures.
#pragma once

#include <cstdint>

namespace millrace {

constexpr int32_t AVRO_DEPTH = 8;      // of arrays and maps in each other
constexpr int32_t NO_AVRO_FIELD = -1;  // of a value that is skipped

// What a step reads. Java repeats the numbers.
enum AvroStepKind : int32_t {
  AVRO_BOOLEAN,
  AVRO_INT,
  AVRO_LONG,
  AVRO_FLOAT,
  AVRO_DOUBLE,
  AVRO_BYTES,         // a length, and as many bytes
  AVRO_TEXT,          // as AVRO_BYTES, in UTF-8
  AVRO_FIXED,         // `size` bytes
  AVRO_ENUM,          // one of `size` symbols
  AVRO_RECORD,        // nothing; the field is not null
  AVRO_UNION,         // one of `size` branches: goes on at the step of its number behind this one
  AVRO_OPTIONAL,      // one of two branches, of which the one with the number `size` is null: goes on at `next` if it is null
  AVRO_JUMP,          // nothing; goes on at `next`
  AVRO_FAIL,          // nothing; `size` is the RecordError
  AVRO_BLOCKS_BEGIN,  // nothing; an array or a map, goes on at `next`, its end; the program `size` reads the elements of a field's list
  AVRO_BLOCKS_END,    // the number of elements of a block; goes on at `next` for each; if `size` is 0, a block that tells how many
                      // bytes it has is skipped by them
  AVRO_END,           // nothing; the end of the record
};

struct AvroStep {
  int32_t kind;
  int32_t field;        // whose value is read, or NO_AVRO_FIELD
  int32_t next;
  int32_t size;
  int32_t first_symbol;  // of an enum, its number among all symbols
  int32_t unit;         // nanoseconds, of a time in two parts that was divided by `divisor`
  int64_t divisor;      // of a time, rounded down
  int64_t multiplier;   // of the quotient
  uint64_t bound_low;   // 10 to the power of the field's precision, for decimals
  uint64_t bound_high;
};

// The text of a symbol.
struct AvroSymbol {
  int32_t text;  // bytes from the plan
  int32_t text_bytes;
};

// Steps for the records of a schema, or for the elements of a list in them.
struct AvroProgram {
  int32_t id;          // of the schema of records
  int32_t first_step;
};

// Behind it lie the programs, steps, symbols and texts.
struct AvroPlan {
  int32_t programs;
  int32_t has_ids;  // whether records begin with a zero and the id of their schema; if not, and for elements, programs have numbers
  int32_t steps;    // bytes from the plan to the steps
  int32_t symbols;  // bytes from the plan to the symbols
};

}  // namespace millrace

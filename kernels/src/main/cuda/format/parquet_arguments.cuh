// SPDX-License-Identifier: Apache-2.0
// What the kernels that decode pages of Parquet are told. Java declares the same structures.
//
// Positions are bytes from the first byte of all pages. Runs and starts are words of 32 bits, told by the number of the first one.
#pragma once

#include <cstdint>

namespace millrace {

// What pages hold. Java repeats the numbers.
enum PhysicalType : int32_t {
  PARQUET_BOOLEAN,  // a bit
  PARQUET_INT32,    // as FLOAT
  PARQUET_INT64,    // as DOUBLE
  PARQUET_BYTE_ARRAY,
};

// How the values of a page are encoded. Java repeats the numbers.
enum ValueEncoding : int32_t {
  PARQUET_PLAIN,
  PARQUET_DICTIONARY,  // runs of codes
  PARQUET_RLE,         // runs of values, which are bits
};

// Words of a run of levels: its first row in the page, the number of values before it, and where its bits are in the levels or one of
// these.
constexpr int LEVEL_RUN_WORDS = 3;
constexpr int32_t ALL_PRESENT = -1;
constexpr int32_t NONE_PRESENT = -2;

// Words of a run of codes: the number of its first value in the page, and where its bits are in the values or, below zero, the code of
// all its values, complemented.
constexpr int CODE_RUN_WORDS = 2;

struct ParquetPage {
  int64_t levels;      // position of the definition levels
  int64_t values;      // position of the values
  int64_t dictionary;  // position of the dictionary's values
  int32_t first_row;
  int32_t encoding;
  int32_t level_run;        // the first run of levels
  int32_t level_run_count;  // 0: all rows have values
  int32_t code_run;         // the first run of codes; of plain byte arrays the first of the starts, one more than values
  int32_t code_run_count;
  int32_t bit_width;         // of a code
  int32_t dictionary_size;   // values
  int32_t dictionary_start;  // of byte arrays: the first of the starts, one more than values
  int32_t reserved;
};

struct ParquetColumn {
  uint64_t values;    // where the values go; of byte arrays int64 positions
  uint64_t second;    // of byte arrays: int32 lengths, then offsets, one more than rows; of timestamps: int32 nanoseconds
  uint64_t validity;  // a bit per row, in words of 32; 0 if no row is null
  int32_t page;       // the first page
  int32_t page_count;
  int32_t type;        // PhysicalType
  int32_t width;       // bytes of a value in the column
  int32_t is_unsigned;
  int32_t string;      // the number of a column of byte arrays among them
};

struct ParquetArguments {
  uint64_t bytes;      // of all pages
  uint64_t words;      // runs and starts
  uint64_t pages;      // ParquetPage, in the order of columns and rows
  uint64_t columns;    // ParquetColumn
  uint64_t look_back;  // per column of byte arrays a counter and a word for each tile, zero before
  uint64_t bad_codes;  // mapped host memory: int32 per column, set to 1 by a code that its dictionary lacks
  uint64_t totals;     // mapped host memory: int64 bytes per column of byte arrays
  int32_t rows;
  int32_t column_count;
  int32_t offset_tiles;  // of parquet_offsets
  int32_t value_tiles;   // of parquet_values
};

struct ParquetStringColumn {
  uint64_t positions;  // int64
  uint64_t offsets;    // int32, one more than rows
  uint64_t target;     // where the bytes go
};

struct ParquetStringsArguments {
  uint64_t bytes;    // as in ParquetArguments
  uint64_t columns;  // ParquetStringColumn
  int64_t rows;
  int64_t blocks;    // of a column
};

}  // namespace millrace

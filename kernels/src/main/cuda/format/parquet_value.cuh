// SPDX-License-Identifier: Apache-2.0
// The value of a row in the pages of a column of Parquet.
#pragma once

#include "common/bytes.cuh"
#include "common/element.cuh"
#include "parquet_arguments.cuh"

namespace millrace {

constexpr int64_t NANOS_PER_MILLI = 1000000;

struct ParquetValue {
  bool is_present;
  bool has_bad_code;
  int64_t bits;    // of a byte array its position
  int32_t length;  // of a byte array
};

MILLRACE_FUNCTION int64_t floor_divide(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient * divisor > value ? quotient - 1 : quotient;
}

MILLRACE_FUNCTION int32_t count_ones(uint64_t word) {
#if defined(__CUDA_ARCH__)
  return __popcll(word);
#else
  return __builtin_popcountll(word);
#endif
}

// The last page that begins at the row or before it.
MILLRACE_FUNCTION const ParquetPage& page_of_row(const ParquetArguments& arguments, const ParquetColumn& column, int32_t row) {
  const ParquetPage* pages = reinterpret_cast<const ParquetPage*>(arguments.pages) + column.page;
  int32_t low = 0;
  int32_t high = column.page_count;
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if (pages[middle].first_row <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return pages[low];
}

// The last run of `words` words each that begins at the value or before it.
MILLRACE_FUNCTION const int32_t* run_of_value(const int32_t* runs, int32_t count, int32_t words, int32_t value) {
  int32_t low = 0;
  int32_t high = count;
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if (runs[static_cast<int64_t>(middle) * words] <= value) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return runs + static_cast<int64_t>(low) * words;
}

// The number of the row's value among those of the page, or -1 if it is null.
MILLRACE_FUNCTION int32_t value_number(const ParquetArguments& arguments, const ParquetPage& page, int32_t row_of_page) {
  if (page.level_run_count == 0) return row_of_page;
  const int32_t* runs = reinterpret_cast<const int32_t*>(arguments.words) + page.level_run;
  const int32_t* run = run_of_value(runs, page.level_run_count, LEVEL_RUN_WORDS, row_of_page);
  int32_t bit = row_of_page - run[0];
  int32_t number = run[1];
  if (run[2] == NONE_PRESENT) return -1;
  if (run[2] == ALL_PRESENT) return number + bit;
  const char* levels = reinterpret_cast<const char*>(arguments.bytes) + page.levels + run[2];
  for (; bit >= 64; bit -= 64, levels += 8) number += count_ones(load_bytes<ConstantMemory>(levels, 8));
  const uint64_t word = load_bytes<ConstantMemory>(levels, bit / 8 + 1);
  if ((word >> bit & 1) == 0) return -1;
  return number + count_ones(word & ((uint64_t{1} << bit) - 1));
}

// A code of the page, of up to 32 bits.
MILLRACE_FUNCTION uint32_t code_of(const ParquetArguments& arguments, const ParquetPage& page, int32_t number) {
  const int32_t* runs = reinterpret_cast<const int32_t*>(arguments.words) + page.code_run;
  const int32_t* run = run_of_value(runs, page.code_run_count, CODE_RUN_WORDS, number);
  if (run[1] < 0) return static_cast<uint32_t>(~run[1]);
  const int64_t bit = static_cast<int64_t>(number - run[0]) * page.bit_width;
  const int32_t shift = static_cast<int32_t>(bit & 7);
  const char* from = reinterpret_cast<const char*>(arguments.bytes) + page.values + run[1] + (bit >> 3);
  const uint64_t word = load_bytes<ConstantMemory>(from, (shift + page.bit_width + 7) / 8);
  return static_cast<uint32_t>(word >> shift & ((uint64_t{1} << page.bit_width) - 1));
}

// The value of a row; zeros if it is null.
MILLRACE_FUNCTION ParquetValue value_of_row(const ParquetArguments& arguments, const ParquetColumn& column, int32_t row) {
  ParquetValue value = {};
  const ParquetPage& page = page_of_row(arguments, column, row);
  const int32_t number = value_number(arguments, page, row - page.first_row);
  if (number < 0) return value;
  value.is_present = true;
  int64_t index = number;
  int64_t base = page.values;
  int64_t starts = page.code_run;
  if (page.encoding != PARQUET_PLAIN) {
    const uint32_t code = code_of(arguments, page, number);
    if (page.encoding == PARQUET_RLE) {
      value.bits = code;
      return value;
    }
    value.has_bad_code = code >= static_cast<uint32_t>(page.dictionary_size);
    if (value.has_bad_code) return value;
    index = code;
    base = page.dictionary;
    starts = page.dictionary_start;
  }
  const char* from = reinterpret_cast<const char*>(arguments.bytes) + base;
  if (column.type == PARQUET_BYTE_ARRAY) {
    const int32_t* start = reinterpret_cast<const int32_t*>(arguments.words) + starts + index;
    value.bits = base + start[0];
    value.length = start[1] - start[0] - static_cast<int32_t>(sizeof(int32_t));
  } else if (column.type == PARQUET_INT64) {
    value.bits = static_cast<int64_t>(load_bytes<ConstantMemory>(from + index * 8, 8));
  } else if (column.type == PARQUET_INT32) {
    const uint64_t word = load_bytes<ConstantMemory>(from + index * 4, 4);
    value.bits = column.is_unsigned ? static_cast<int64_t>(word) : static_cast<int32_t>(word);
  } else {
    value.bits = from[index >> 3] >> (index & 7) & 1;
  }
  return value;
}

}  // namespace millrace

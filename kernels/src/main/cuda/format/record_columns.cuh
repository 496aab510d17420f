// SPDX-License-Identifier: Apache-2.0
// Records, or elements of lists in them, to columns, whatever their format: the kernels that a module of a format has, behind its
// name.
//
//   parse    reads each record, writes the values of fixed width of its fields, and where its strings are
//   offsets  lengths of strings and lists to offsets, and tells the host how many nulls, bytes and elements there are; strings of
//            rows that are not kept have no bytes
//   strings  copies the strings
//
// Where a format has lists, `elements` finds their elements, which are then read as records are.
//
// A record that is not valid gives a row of nulls and an error. A thread reads a record: the threads of a warp read neighbouring
// records, whose bytes come from the cache of the multiprocessor, a word of eight at a time.
//
// Bound: the chain of dependent instructions of a record for micro-batches; then instructions. Memory is read about twice.
//
// Launch shapes (Java repeats them): parse with RECORD_THREADS per block and a thread per record; offsets with OFFSET_THREADS per
// block and `tiles` blocks of OFFSET_TILE records for each field of strings or lists, or for one if there is none; strings with STRING_THREADS
// per block and a block per STRING_ROWS records for each string field.
//
// A format is a structure with two static functions: `read` makes a row of a record, `resolve_escapes` copies a string that is
// written otherwise than it is.
#pragma once

#include "column_output.cuh"
#include "record_value.cuh"

namespace millrace {

static __device__ __forceinline__ bool has_lengths(const RecordField& field) {
  return field.type == FIELD_STRING || field.type == FIELD_LIST;
}

// Ends a row: what is not there is null, and has zeros for its value. Every lane of a warp calls it.
static __device__ __forceinline__ void finish_row(const RecordArguments& arguments, const RecordRow& row, bool is_record) {
  const int32_t word = row.row / WARP;
  const uint32_t records = __ballot_sync(ALL_LANES, is_record);
  int32_t* null_counts = reinterpret_cast<int32_t*>(arguments.null_counts);
  const uint32_t undecided = __ballot_sync(ALL_LANES, is_record && row.record.error == RECORD_UNDECIDED);
  if (lane_of_thread() == 0 && undecided != 0) atomicAdd(null_counts + arguments.field_count, __popc(undecided));
  for (int32_t i = 0; i < arguments.field_count; ++i) {
    const bool is_present = is_record && row.present.has(i);
    const uint32_t present = __ballot_sync(ALL_LANES, is_present);
    const RecordColumn& column = arguments.column[i];
    if (lane_of_thread() == 0 && records != 0) {
      if (column.validity != 0) put<uint32_t>(column.validity, word, present);
      const int32_t nulls = __popc(records & ~present);
      if (nulls > 0) atomicAdd(null_counts + i, nulls);
    }
    if (!is_record || is_present) continue;
    const RecordField& field = field_of(arguments, i);
    if (has_lengths(field)) {
      put_low_bytes(column.values, row.row, field.type == FIELD_LIST ? 8 : 4, 0);
      put<int32_t>(column.second, row.row, 0);
    } else if (field.type == FIELD_TIMESTAMP) {
      put<int64_t>(column.values, row.row, 0);
      if (column.second != 0) put<int32_t>(column.second, row.row, 0);
    } else if (field.type == FIELD_DECIMAL && field.width == 16) {
      put<uint64_t>(column.values, int64_t{2} * row.row, 0);
      put<uint64_t>(column.values, int64_t{2} * row.row + 1, 0);
    } else if (field.type != FIELD_OBJECT) {
      put_low_bytes(column.values, row.row, field.width, 0);
    }
  }
}

// The field of strings or lists by its number among them.
static __device__ __forceinline__ int32_t string_field(const RecordArguments& arguments, int32_t string) {
  int32_t field = 0;
  while (!has_lengths(field_of(arguments, field)) || field_of(arguments, field).string != string) ++field;
  return field;
}

// Reads a record, whose row the thread has.
template <typename Format>
static __device__ __forceinline__ void parse_records(const RecordArguments& arguments) {
  RecordRow row = {};
  row.row = blockIdx.x * RECORD_THREADS + threadIdx.x;
  const bool is_record = row.row < arguments.rows;
  if (is_record) {
    const int32_t start = element_of<int32_t>(arguments.records, row.row);
    const int32_t end = element_of<int32_t>(arguments.ends, row.row);
    row.record.text = TextCursor::over(arguments.bytes, start, end);
    const int32_t first = row.record.text.at;
    if (!Format::read(arguments, row)) row.present = {};
    const uint64_t position = static_cast<uint32_t>(min(row.record.text.at, row.record.text.end)) - static_cast<uint32_t>(first);
    const RecordError error = row.record.error;
    put<uint64_t>(arguments.errors, row.row,
                  error == RECORD_VALID ? 0 : error | static_cast<uint64_t>(row.record.field) << 8 | position << 32);
  }
  __syncwarp();
  finish_row(arguments, row, is_record);
}

// Lengths of strings and lists to offsets.
static __device__ __forceinline__ void sum_lengths(const RecordArguments& arguments) {
  int32_t* null_counts = reinterpret_cast<int32_t*>(arguments.result);
  const int32_t string = blockIdx.x / arguments.tiles;
  if (blockIdx.x == 0 && threadIdx.x <= arguments.field_count) {
    null_counts[threadIdx.x] = element_of<int32_t>(arguments.null_counts, threadIdx.x);
  }
  if (arguments.string_count == 0) return;
  const int32_t field = string_field(arguments, string);
  const uint64_t kept = field_of(arguments, field).type == FIELD_STRING ? arguments.kept : 0;
  const uint64_t totals = arguments.result + (arguments.field_count / 2 + 1) * sizeof(int64_t);
  sum_lengths_of_tile(arguments.look_back + string * (int64_t{1} + arguments.tiles) * sizeof(int64_t), arguments.tiles,
                      arguments.column[field].second, arguments.rows, totals + string * sizeof(int64_t),
                      [&](int32_t row) { return is_kept(kept, arguments.errors, row); });
}

// Copies the string of a row, or some words of it.
template <typename Format>
static __device__ __forceinline__ void copy_strings(const RecordStringsArguments& arguments) {
  const int32_t blocks_of_string = (static_cast<int32_t>(arguments.rows) - 1) / STRING_ROWS + 1;
  const RecordStringColumn& column = arguments.column[blockIdx.x / blocks_of_string];
  const int32_t row = blockIdx.x % blocks_of_string * STRING_ROWS + threadIdx.x / STRING_LANES;
  if (row >= arguments.rows) return;
  const int32_t offset = element_of<int32_t>(column.offsets, row);
  const int32_t bytes = element_of<int32_t>(column.offsets, row + 1) - offset;
  const uint32_t start = element_of<uint32_t>(column.starts, row);
  const int32_t lane = threadIdx.x % STRING_LANES;
  char* target = reinterpret_cast<char*>(column.bytes) + offset;
  TextCursor text = TextCursor::over(arguments.bytes, 0, 0);
  if ((start & HAS_ESCAPES) == 0) {
    copy_string(reinterpret_cast<const char*>(text.words) + start, target, bytes, lane);
  } else if (lane == 0) {
    text.at = static_cast<int32_t>(start & ~HAS_ESCAPES);
    text.end = INT32_MAX;
    Format::resolve_escapes(arguments, column, text, bytes, target);
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// A row of columns as a record, by the steps of a plan.
#pragma once

#include "binary_writer.cuh"
#include "bytes_writer.cuh"
#include "common/element.cuh"
#include "float_writer.cuh"
#include "time_writer.cuh"
#include "write_arguments.cuh"

namespace millrace {

constexpr uint64_t WORD_TRUE_TEXT = 0x65757274;
constexpr uint64_t WORD_FALSE_TEXT = 0x65736c6166;

// A list or a dictionary around the values that are written.
struct WriteFrame {
  int32_t row;  // of the list or dictionary
  int32_t end;  // of the list's elements
};

static __device__ __forceinline__ bool is_null(const WriteColumn& column, int32_t row) {
  if (column.validity == 0) return false;
  const uint64_t bit = column.validity + static_cast<uint64_t>(row);
  return (element_of<uint8_t>(bit >> 3, 0) >> (bit & 7) & 1) == 0;
}

template <typename Sink>
static __device__ __forceinline__ void put_number(Sink& sink, const WriteArguments& arguments, const WriteStep& step,
                                                  const WriteColumn& column, int32_t row) {
  if (step.kind == WRITE_FLOAT) {
    const bool is_float = step.width == 4;
    const uint64_t bits = is_float ? element_of<uint32_t>(column.values, row) : element_of<uint64_t>(column.values, row);
    const FloatFormat format = is_float ? FloatFormat::of_float() : FloatFormat::of_double();
    put_float(sink, arguments.powers, format, bits, step.is_quoted != 0);
  } else if (step.width == 16) {
    put_decimal(sink, element_of<uint64_t>(column.values, int64_t{2} * row),
                element_of<int64_t>(column.values, int64_t{2} * row + 1), step.scale);
  } else {
    const int64_t unscaled = integer_at(column, step.width, row);
    put_decimal(sink, static_cast<uint64_t>(unscaled), unscaled < 0 ? -1 : 0, step.scale);
  }
}

template <typename Sink>
static __device__ __forceinline__ void put_quotable(Sink& sink, const WriteStep& step, const WriteColumn& column, int32_t row) {
  if (step.is_quoted != 0) sink.put('"');
  if (step.kind == WRITE_DATE) {
    put_date(sink, element_of<int32_t>(column.values, row));
  } else if (step.kind == WRITE_TIME) {
    put_time_of_millis(sink, element_of<int32_t>(column.values, row), 3);
  } else if (step.kind == WRITE_TIMESTAMP) {
    const bool has_nanos = step.width == 1;
    put_timestamp(sink, element_of<int64_t>(column.values, row), has_nanos ? NANOS_OF_MILLI : step.width,
                  has_nanos ? element_of<int32_t>(column.second, row) : 0, step.precision,
                  (step.scale & TIMESTAMP_HAS_SPACE) != 0 ? ' ' : 'T', (step.scale & TIMESTAMP_HAS_ZONE) != 0);
  } else {
    const int32_t start = element_of<int32_t>(column.second, row);
    const char* bytes = reinterpret_cast<const char*>(column.values) + start;
    const int32_t length = element_of<int32_t>(column.second, int64_t{row} + 1) - start;
    switch (step.kind) {
      case WRITE_BASE64: put_base64(sink, bytes, length); break;
      case WRITE_ESCAPED: put_escaped(sink, bytes, length); break;
      case WRITE_SIZED:
        put_varint(sink, length);
        put_bytes(sink, bytes, length);
        break;
      default: put_bytes(sink, bytes, length);
    }
  }
  if (step.is_quoted != 0) sink.put('"');
}

template <bool IS_WRITING>
static __device__ __forceinline__ void write_row(const WriteArguments& arguments, int32_t row, TextSink<IS_WRITING>& sink) {
  WriteFrame frames[WRITE_DEPTH];
  int32_t depth = 0;
  int32_t at = 0;
  while (at < arguments.steps) {
    const WriteStep& step = reinterpret_cast<const WriteStep*>(arguments.plan)[at];
    const WriteColumn& column = reinterpret_cast<const WriteColumn*>(arguments.columns)[step.column];
    sink.put_text(arguments.plan + step.text, step.text_bytes);
    if (step.null_bytes >= 0 && is_null(column, row)) {
      sink.put(static_cast<uint32_t>(step.null_text), step.null_bytes);
      at = step.null_next;
      continue;
    }
    ++at;
    switch (step.kind) {
      case WRITE_TEXT: break;
      case WRITE_BOOL: {
        const bool is_true = element_of<uint8_t>(column.values, row) != 0;
        sink.put(is_true ? WORD_TRUE_TEXT : WORD_FALSE_TEXT, is_true ? 4 : 5);
        break;
      }
      case WRITE_INTEGER:
      case WRITE_FLOAT:
      case WRITE_DECIMAL: put_number(sink, arguments, step, column, row); break;
      case WRITE_VARINT:
      case WRITE_FIXED:
      case WRITE_UNSCALED: put_binary(sink, step, column, row); break;
      case WRITE_BLOCK_BEGIN:
      case WRITE_LIST_BEGIN: {
        const int32_t start = element_of<int32_t>(column.second, row);
        const int32_t end = element_of<int32_t>(column.second, int64_t{row} + 1);
        const bool is_block = step.kind == WRITE_BLOCK_BEGIN;
        if (!is_block) {
          sink.put('[');
        } else if (start < end) {
          put_varint(sink, int64_t{end} - start);
        }
        if (start == end) {
          sink.put(is_block ? '\0' : ']');
          at = step.next + 1;
        } else {
          frames[depth++] = {row, end};
          row = start;
        }
        break;
      }
      case WRITE_BLOCK_END:
      case WRITE_LIST_END:
        if (++row < frames[depth - 1].end) {
          if (step.kind == WRITE_LIST_END) sink.put(',');
          at = step.next;
        } else {
          sink.put(step.kind == WRITE_LIST_END ? ']' : '\0');
          row = frames[--depth].row;
        }
        break;
      case WRITE_DICTIONARY_BEGIN:
        frames[depth++] = {row, 0};
        row = element_of<int32_t>(column.values, row);
        break;
      case WRITE_DICTIONARY_END: row = frames[--depth].row; break;
      case WRITE_FIELD_BEGIN: sink.begin_field(); break;
      case WRITE_FIELD_END:
        if (sink.end_field()) at = step.next;
        break;
      default: put_quotable(sink, step, column, row);
    }
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// A datum of Avro to the columns of a row, by the steps of the program for its schema.
#pragma once

#include "avro_value.cuh"

namespace millrace {

constexpr int32_t SCHEMA_ID_BYTES = 5;  // with the zero before it

// Reads the value of a step; false if there is none.
static __device__ inline bool read_avro_value(const RecordArguments& arguments, RecordRow& row, uint64_t plan, const AvroStep& step) {
  RecordText& record = row.record;
  const bool is_skipped = step.field == NO_AVRO_FIELD;
  const RecordColumn& column = arguments.column[is_skipped ? 0 : step.field];
  int64_t integer = step.size;
  uint64_t bits;
  switch (step.kind) {
    case AVRO_BOOLEAN:
      if (!read_fixed(record, 1, bits)) return false;
      put<uint8_t>(column.values, row.row, bits == 1);
      break;
    case AVRO_FLOAT:
      if (!read_fixed(record, 4, bits)) return false;
      put_avro_float(row, field_of(arguments, step.field), column, static_cast<uint32_t>(bits));
      break;
    case AVRO_DOUBLE:
      if (!read_fixed(record, 8, bits)) return false;
      put<uint64_t>(column.values, row.row, bits);
      break;
    case AVRO_INT:
    case AVRO_LONG:
      if (!(step.kind == AVRO_INT ? read_int(record, integer) : read_long(record, integer))) return false;
      if (is_skipped) return true;
      if (!put_avro_integer(row, field_of(arguments, step.field), column, step, integer)) return false;
      break;
    case AVRO_ENUM:
      if (!read_index(record, step.size, integer)) return false;
      put_avro_symbol(row, column, plan, step.first_symbol + static_cast<int32_t>(integer));
      break;
    default:
      if (step.kind != AVRO_FIXED && !read_long(record, integer)) return false;
      if (!has_bytes(record, integer)) return false;
      if (!is_skipped && !put_avro_bytes(row, field_of(arguments, step.field), column, step, static_cast<int32_t>(integer))) {
        return false;
      }
      record.text.at += static_cast<int32_t>(integer);
      if (is_skipped) return true;
  }
  row.present.add(step.field);
  return true;
}

// Reads the number of elements of a block; 0 behind the last block. Blocks that tell how many bytes they have, which are skipped, and
// elements without bytes are passed by.
static __device__ inline bool read_block(RecordText& record, bool elements_have_bytes, int64_t& elements) {
  for (;;) {
    if (!read_long(record, elements)) return false;
    if (elements == 0 || (elements > 0 && elements_have_bytes)) return true;
    if (elements > 0) continue;
    int64_t bytes;
    if (!read_long(record, bytes)) return false;
    if (!has_bytes(record, bytes)) return false;
    record.text.at += static_cast<int32_t>(bytes);
  }
}

static __device__ inline bool read_steps(const RecordArguments& arguments, RecordRow& row, uint64_t plan, uint64_t steps, int32_t at) {
  RecordText& record = row.record;
  int64_t elements[AVRO_DEPTH];  // that are left
  int32_t depth = 0;
  for (;;) {
    const AvroStep& step = reinterpret_cast<const AvroStep*>(steps)[at++];
    int64_t branch;
    switch (step.kind) {
      case AVRO_RECORD: row.present.add(step.field); break;
      case AVRO_JUMP: at = step.next; break;
      case AVRO_OPTIONAL:
        if (!read_index(record, 2, branch)) return false;
        if (branch == step.size) at = step.next;
        break;
      case AVRO_UNION:
        if (!read_index(record, step.size, branch)) return false;
        at += static_cast<int32_t>(branch);
        break;
      case AVRO_FAIL: record.field = step.field; return record.fail(static_cast<RecordError>(step.size));
      case AVRO_BLOCKS_BEGIN:
        elements[depth++] = 1;
        at = step.next;
        break;
      case AVRO_BLOCKS_END:
        if (--elements[depth - 1] <= 0 && !read_block(record, step.next < at - 1, elements[depth - 1])) return false;
        if (elements[depth - 1] > 0) {
          at = step.next;
        } else {
          --depth;
        }
        break;
      case AVRO_END: return record.text.at == record.text.end || record.fail(RECORD_TRAILING_BYTES);
      default:
        if (!read_avro_value(arguments, row, plan, step)) return false;
    }
  }
}

// The first step for a record's schema. The cursor goes behind the id.
static __device__ inline bool find_program(RecordText& record, uint64_t plan, int32_t& first_step) {
  const AvroPlan& header = *reinterpret_cast<const AvroPlan*>(plan);
  const AvroProgram* programs = reinterpret_cast<const AvroProgram*>(plan + sizeof(AvroPlan));
  if (header.has_ids == 0) {
    first_step = programs->first_step;
    return true;
  }
  TextCursor& text = record.text;
  const int32_t start = text.at;
  if (text.end - start < SCHEMA_ID_BYTES || text.byte_at(start) != 0) return record.fail(RECORD_NO_SCHEMA_ID);
  uint32_t id = 0;
  for (int32_t i = 1; i < SCHEMA_ID_BYTES; ++i) id = id << 8 | static_cast<uint32_t>(text.byte_at(start + i));
  text.at += SCHEMA_ID_BYTES;
  for (int32_t i = 0; i < header.programs; ++i) {
    if (programs[i].id == static_cast<int32_t>(id)) {
      first_step = programs[i].first_step;
      return true;
    }
  }
  // The word of the error has the id in place of a position.
  text.at = text.end = static_cast<int32_t>(static_cast<uint32_t>(start) + id);
  return record.fail(RECORD_UNKNOWN_SCHEMA);
}

// Reads a record; false if it is not a row.
static __device__ inline bool read_avro_record(const RecordArguments& arguments, RecordRow& row) {
  const uint64_t plan = arguments.fields + arguments.field_count * sizeof(RecordField);
  int32_t first_step;
  if (!find_program(row.record, plan, first_step)) return false;
  row.present.add(0);
  return read_steps(arguments, row, plan, plan + reinterpret_cast<const AvroPlan*>(plan)->steps, first_step);
}

}  // namespace millrace

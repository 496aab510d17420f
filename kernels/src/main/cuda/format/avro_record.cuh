// SPDX-License-Identifier: Apache-2.0
// A datum of Avro to the columns of a row, by the steps of the program for its schema.
#pragma once

#include "avro_value.cuh"

namespace millrace {

constexpr int32_t SCHEMA_ID_BYTES = 5;  // with the zero before it
constexpr int32_t NO_AVRO_STEP = -1;

// Reads the value of a step with a field; false if there is none.
static __device__ inline bool read_avro_value(const RecordArguments& arguments, RecordRow& row, uint64_t plan, const AvroStep& step) {
  RecordText& record = row.record;
  const RecordField& field = field_of(arguments, step.field);
  const RecordColumn& column = arguments.column[step.field];
  int64_t integer = step.size;
  uint64_t bits;
  switch (step.kind) {
    case AVRO_BOOLEAN:
      if (!read_fixed(record, 1, bits)) return false;
      put<uint8_t>(column.values, row.row, bits == 1);
      break;
    case AVRO_FLOAT:
      if (!read_fixed(record, 4, bits)) return false;
      put_avro_float(row, field, column, static_cast<uint32_t>(bits));
      break;
    case AVRO_DOUBLE:
      if (!read_fixed(record, 8, bits)) return false;
      put<uint64_t>(column.values, row.row, bits);
      break;
    case AVRO_INT:
    case AVRO_LONG:
      if (!(step.kind == AVRO_INT ? read_int(record, integer) : read_long(record, integer))) return false;
      if (!put_avro_integer(row, field, column, step, integer)) return false;
      break;
    case AVRO_ENUM:
      if (!read_index(record, step.size, integer)) return false;
      put_avro_symbol(row, column, plan, step.first_symbol + static_cast<int32_t>(integer));
      break;
    default:
      if (step.kind != AVRO_FIXED && !read_long(record, integer)) return false;
      if (!has_bytes(record, integer)) return false;
      if (!put_avro_bytes(row, field, column, step, static_cast<int32_t>(integer))) return false;
      record.text.at += static_cast<int32_t>(integer);
  }
  row.present.add(step.field);
  return true;
}

// Passes the value of a step without a field by; false if there is none.
static __device__ inline bool skip_avro_value(RecordText& record, const AvroStep& step) {
  int64_t integer = step.size;
  if (step.kind == AVRO_INT) return read_int(record, integer);
  if (step.kind == AVRO_LONG) return read_long(record, integer);
  if (step.kind != AVRO_FIXED && !read_long(record, integer)) return false;
  if (!has_bytes(record, integer)) return false;
  record.text.at += static_cast<int32_t>(integer);
  return true;
}

// Reads the number of elements of a block; 0 behind the last block. Blocks that are skipped by their bytes, and elements without
// bytes, are passed by.
static __device__ inline bool read_block(RecordText& record, bool is_counted, bool elements_have_bytes, int64_t& elements) {
  for (;;) {
    if (!read_long(record, elements)) return false;
    if (elements == 0 || (elements > 0 && elements_have_bytes)) return true;
    if (elements > 0) continue;
    int64_t bytes;
    if (!read_long(record, bytes)) return false;
    if (is_counted) {
      elements = static_cast<int64_t>(0 - static_cast<uint64_t>(elements));
      return elements > 0 || record.fail(RECORD_INVALID_LENGTH);
    }
    if (!has_bytes(record, bytes)) return false;
    record.text.at += static_cast<int32_t>(bytes);
  }
}

// What becomes of the values of steps with a field: they go to the columns of a row.
struct AvroRow {
  const RecordArguments& arguments;
  RecordRow& row;
  uint64_t plan;

  __device__ __forceinline__ bool read(const AvroStep& step) { return read_avro_value(arguments, row, plan, step); }

  __device__ __forceinline__ void set_present(const AvroStep& step) { row.present.add(step.field); }

  // A list begins here, whose elements are found by the steps behind the one of this number.
  __device__ __forceinline__ void begin_list(const AvroStep& step, int32_t number) {
    const RecordColumn& column = arguments.column[step.field];
    put<int64_t>(column.values, row.row, static_cast<int64_t>(number) << 32 | row.record.text.at);
    put<int32_t>(column.second, row.row, 0);
    row.present.add(step.field);
  }

  __device__ __forceinline__ void add_elements(const AvroStep& step, int64_t elements) {
    reinterpret_cast<int32_t*>(arguments.column[step.field].second)[row.row] += static_cast<int32_t>(elements);
  }
};

// Steps without fields have no values.
struct AvroNoRow {
  __device__ __forceinline__ bool read(const AvroStep&) { return true; }
  __device__ __forceinline__ void set_present(const AvroStep&) {}
  __device__ __forceinline__ void begin_list(const AvroStep&, int32_t) {}
  __device__ __forceinline__ void add_elements(const AvroStep&, int64_t) {}
};

// Goes through the steps from `at` to `end`, or to the end of the record.
template <typename Row>
static __device__ inline bool read_steps(RecordText& record, Row& row, const AvroStep* steps, int32_t at, int32_t end) {
  int64_t elements[AVRO_DEPTH];  // that are left
  int32_t depth = 0;
  while (at != end) {
    const AvroStep& step = steps[at++];
    const bool has_field = step.field != NO_AVRO_FIELD;
    int64_t branch;
    switch (step.kind) {
      case AVRO_RECORD: row.set_present(step); break;
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
        if (has_field) row.begin_list(step, at - 1);
        elements[depth++] = 1;
        at = step.next;
        break;
      case AVRO_BLOCKS_END:
        if (--elements[depth - 1] <= 0) {
          if (!read_block(record, step.size != 0, step.next < at - 1, elements[depth - 1])) return false;
          if (has_field) row.add_elements(step, elements[depth - 1]);
        }
        if (elements[depth - 1] > 0) {
          at = step.next;
        } else {
          --depth;
        }
        break;
      case AVRO_END: return record.text.at == record.text.end || record.fail(RECORD_TRAILING_BYTES);
      default:
        if (!(has_field ? row.read(step) : skip_avro_value(record, step))) return false;
    }
  }
  return true;
}

static __device__ __forceinline__ const AvroStep* steps_of(uint64_t plan) {
  return reinterpret_cast<const AvroStep*>(plan + reinterpret_cast<const AvroPlan*>(plan)->steps);
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

// Reads a record, or an element of a list; false if it is not a row.
static __device__ inline bool read_avro_record(const RecordArguments& arguments, RecordRow& row) {
  const uint64_t plan = arguments.fields + arguments.field_count * sizeof(RecordField);
  int32_t first_step;
  if (arguments.programs != 0) {
    const AvroProgram* programs = reinterpret_cast<const AvroProgram*>(plan + sizeof(AvroPlan));
    first_step = programs[element_of<int32_t>(arguments.programs, row.row)].first_step;
  } else if (!find_program(row.record, plan, first_step)) {
    return false;
  }
  row.present.add(0);
  AvroRow columns{arguments, row, plan};
  return read_steps(row.record, columns, steps_of(plan), first_step, NO_AVRO_STEP);
}

// Finds the elements of the list of a row, whose record was read.
static __device__ inline void find_avro_elements(const RecordElementsArguments& arguments) {
  const int32_t row = blockIdx.x * RECORD_THREADS + threadIdx.x;
  if (row >= arguments.rows) return;
  const int32_t last = element_of<int32_t>(arguments.offsets, row + 1);
  int32_t element = element_of<int32_t>(arguments.offsets, row);
  if (element == last) return;
  RecordText record = {};
  record.text = TextCursor::over(arguments.bytes, 0, element_of<int32_t>(arguments.record_ends, row));
  const int32_t skew = record.text.at;  // the cursor, and the positions of lists, count from an aligned word
  const int64_t list = element_of<int64_t>(arguments.lists, row);
  record.text.at = static_cast<int32_t>(list);
  const int32_t begin = static_cast<int32_t>(list >> 32);
  const AvroStep* steps = steps_of(arguments.format);
  const int32_t end = steps[begin].next;
  const bool is_kept_row = is_kept(arguments.kept, arguments.errors, row);
  AvroNoRow none;
  int64_t left = 0;  // elements of the block
  for (; element < last; ++element, --left) {
    if (left == 0) read_block(record, true, true, left);
    put<int32_t>(arguments.starts, element, record.text.at - skew);
    read_steps(record, none, steps, begin + 1, end);
    put<int32_t>(arguments.ends, element, record.text.at - skew);
    put<int32_t>(arguments.programs, element, steps[begin].size);
    if (arguments.kept_elements != 0) put<uint8_t>(arguments.kept_elements, element, is_kept_row);
  }
}

}  // namespace millrace

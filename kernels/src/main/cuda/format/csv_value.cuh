// SPDX-License-Identifier: Apache-2.0
// Fields of CSV (RFC 4180) to the columns of a row.
#pragma once

#include "record_value.cuh"
#include "text_utf8.cuh"

namespace millrace {

constexpr int32_t NO_CHARACTER = -2;  // for a quote or escape that the format lacks: equal to nothing that a cursor returns

// What Java writes behind the fields: this; an int32 for each field of a record, the number of its column's field or 0 if it is
// skipped, up to a whole word; the null literal in words, with zeros behind it.
struct CsvPlan {
  int32_t delimiter;
  int32_t quote;
  int32_t escape;
  int32_t fields;        // of a record
  int32_t max_missing;   // at its end
  int32_t max_extra;     // behind them
  int32_t null_literal;  // bytes from the plan to its words
  int32_t null_bytes;
};

// A field as it is written: its bytes without the quotes, and how many there are with escapes resolved.
struct CsvField {
  int32_t first;  // with the quote
  int32_t start;
  int32_t written_bytes;
  int32_t bytes;
  bool is_quoted;
  bool has_escapes;
};

static __device__ __forceinline__ const CsvPlan& csv_plan_of(const RecordArguments& arguments) {
  return *reinterpret_cast<const CsvPlan*>(arguments.fields + arguments.field_count * sizeof(RecordField));
}

static __device__ __forceinline__ int32_t field_at(const CsvPlan& plan, int32_t position) {
  return reinterpret_cast<const int32_t*>(&plan + 1)[position];
}

static __device__ __forceinline__ const uint64_t* null_literal_of(const CsvPlan& plan) {
  return reinterpret_cast<const uint64_t*>(reinterpret_cast<uint64_t>(&plan) + plan.null_literal);
}

static __device__ __forceinline__ bool fail_at(RecordText& record, int32_t position, RecordError error) {
  record.text.at = position;
  return record.fail(error);
}

// Goes on to the next byte that may end the field or needs a look; to the end if there is none.
static __device__ __forceinline__ void skip_plain(TextCursor& text, const CsvPlan& plan, bool is_quoted) {
  while (text.at < text.end) {
    const uint64_t word = text.word_at(text.at);
    uint64_t special = bytes_equal(word, static_cast<char>(plan.quote)) | bytes_equal(word, static_cast<char>(plan.escape)) |
                       (word & NOT_ASCII);
    if (!is_quoted) special |= bytes_equal(word, static_cast<char>(plan.delimiter));
    special &= ~uint64_t{0} << (text.at % WORD_BYTES * 8);
    text.at = text.at / WORD_BYTES * WORD_BYTES + (special == 0 ? WORD_BYTES : bytes_below(special));
    if (special != 0) break;
  }
  text.at = min(text.at, text.end);
}

// Takes an escape, and the character behind it if that is ASCII.
static __device__ __forceinline__ bool skip_escape(RecordText& record) {
  TextCursor& text = record.text;
  const int32_t start = text.at++;
  const int32_t byte = text.peek();
  if (byte == END_OF_TEXT) return fail_at(record, start, RECORD_UNFINISHED_ESCAPE);
  if (byte < 0x80) ++text.at;
  return true;
}

// Reads a field up to the delimiter behind it or to the end.
static __device__ inline bool read_field(RecordText& record, const CsvPlan& plan, CsvField& field) {
  TextCursor& text = record.text;
  field = {text.at, text.at, 0, 0, false, false};
  if (text.peek() == plan.quote) {
    ++text.at;
    field.is_quoted = true;
    field.start = text.at;
  }
  int32_t saved = 0;  // bytes that are not part of the value
  for (;;) {
    skip_plain(text, plan, field.is_quoted);
    const int32_t at = text.at;
    const int32_t byte = text.peek();
    if (byte == END_OF_TEXT) {
      if (field.is_quoted) return fail_at(record, field.first, RECORD_UNCLOSED_QUOTE);
      break;
    }
    if (byte >= 0x80) {
      if (!skip_utf8(text)) return fail_at(record, at, RECORD_NO_UTF8);
    } else if (byte == plan.escape) {
      if (!skip_escape(record)) return false;
      ++saved;
    } else if (!field.is_quoted) {
      if (byte == plan.quote) return record.fail(RECORD_STRAY_QUOTE);
      break;
    } else {
      ++text.at;
      if (text.peek() != plan.quote) break;
      ++text.at;
      ++saved;
    }
  }
  field.written_bytes = text.at - field.start - (field.is_quoted ? 1 : 0);
  field.bytes = field.written_bytes - saved;
  field.has_escapes = saved > 0;
  if (text.at < text.end && text.peek() != plan.delimiter) return record.fail(RECORD_TEXT_BEHIND_QUOTE);
  return true;
}

// The value of a field of a record to the column of the field `number`.
static __device__ inline bool put_value(const RecordArguments& arguments, const CsvPlan& plan, RecordRow& row, int32_t number,
                                        const CsvField& csv) {
  const RecordField& field = field_of(arguments, number);
  const RecordColumn& column = arguments.column[number];
  TextCursor text = row.record.text;
  text.at = csv.start;
  text.end = csv.start + csv.written_bytes;
  if (!csv.is_quoted && csv.written_bytes == plan.null_bytes && text.starts_with(null_literal_of(plan), plan.null_bytes)) {
    return !field.is_required || fail_at(row.record, csv.first, RECORD_UNEXPECTED_NULL);
  }
  if (field.type == FIELD_STRING) {
    // The cursor counts from an aligned word.
    put<uint32_t>(column.values, row.row, static_cast<uint32_t>(csv.start) | (csv.has_escapes ? HAS_ESCAPES : 0));
    put<int32_t>(column.second, row.row, csv.bytes);
  } else if (csv.has_escapes || !put_scalar(arguments, row, field, column, text) || text.at != text.end) {
    return fail_at(row.record, csv.first, RECORD_INVALID_VALUE);
  }
  row.present.add(number);
  return true;
}

// Reads a record; false if it is not a row.
static __device__ inline bool read_csv_record(const RecordArguments& arguments, RecordRow& row) {
  const CsvPlan& plan = csv_plan_of(arguments);
  RecordText& record = row.record;
  record.text.drop_line_end();
  if (record.text.at == record.text.end && plan.fields > 1) return record.fail(RECORD_BLANK);
  row.present.add(0);
  int32_t position = 0;
  for (;; ++record.text.at) {
    if (position == plan.fields + plan.max_extra) {
      record.field = position;
      return record.fail(RECORD_TOO_MANY_FIELDS);
    }
    record.field = position < plan.fields ? field_at(plan, position) : 0;
    CsvField field;
    if (!read_field(record, plan, field)) return false;
    if (record.field != 0 && !put_value(arguments, plan, row, record.field, field)) return false;
    ++position;
    if (record.text.at == record.text.end) break;
  }
  if (position < plan.fields - plan.max_missing) {
    record.field = position;
    return record.fail(RECORD_TOO_FEW_FIELDS);
  }
  for (; position < plan.fields; ++position) {
    record.field = field_at(plan, position);
    if (record.field != 0 && field_of(arguments, record.field).is_required) return record.fail(RECORD_MISSING);
  }
  if (row.is_undecided) record.error = RECORD_UNDECIDED;
  return true;
}

static __device__ __forceinline__ int32_t escaped(int32_t byte) {
  switch (byte) {
    case '0': return '\0';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return byte;
  }
}

// Writes the bytes of a field without escapes and doubled quotes. The cursor is at its first byte.
static __device__ inline void resolve_csv(const CsvPlan& plan, TextCursor& text, int32_t bytes, char* target) {
  for (int32_t i = 0; i < bytes; ++i) {
    int32_t byte = text.next();
    if (byte == plan.escape) {
      byte = escaped(text.next());
    } else if (byte == plan.quote) {
      ++text.at;
    }
    target[i] = static_cast<char>(byte);
  }
}

}  // namespace millrace

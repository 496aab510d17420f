// SPDX-License-Identifier: Apache-2.0
// The text of a record, and why it is none.
#pragma once

#include "text_cursor.cuh"

namespace millrace {

// Why a record is not a row, in the low byte of its word of errors; then the number of the field, or of fields, and in the high half
// the position in the record. Java repeats the numbers.
enum RecordError : int32_t {
  RECORD_VALID,
  RECORD_BLANK,      // not a record at all
  RECORD_UNDECIDED,  // valid, but the host rounds its floating-point numbers
  RECORD_NO_JSON,
  RECORD_NO_UTF8,
  RECORD_NO_OBJECT,
  RECORD_MORE,           // something behind the object
  RECORD_TOO_DEEP,
  RECORD_WRONG_TYPE,     // the JSON value does not have the field's type
  RECORD_INVALID_VALUE,  // it has the form, but is out of range, or is not a time
  RECORD_UNEXPECTED_NULL,
  RECORD_MISSING,
  RECORD_DUPLICATE,
  RECORD_STRAY_QUOTE,        // within a field of CSV without quotes
  RECORD_UNCLOSED_QUOTE,
  RECORD_TEXT_BEHIND_QUOTE,
  RECORD_UNFINISHED_ESCAPE,
  RECORD_TOO_FEW_FIELDS,     // with the number of fields
  RECORD_TOO_MANY_FIELDS,    // with the number of fields that there may be
  RECORD_TRUNCATED,          // within a value of Avro
  RECORD_INVALID_NUMBER,     // of more bytes than its type has in Avro
  RECORD_INVALID_LENGTH,     // below zero
  RECORD_INVALID_INDEX,      // of a union or an enum
  RECORD_OTHER_BRANCH,       // of a union, which is not of the field's type
  RECORD_TRAILING_BYTES,     // behind the datum
  RECORD_NO_SCHEMA_ID,
  RECORD_UNKNOWN_SCHEMA,     // with the id of the schema in place of the position
};

// A record that is read.
struct RecordText {
  TextCursor text;
  RecordError error;
  int32_t field;  // that the error is about

  __device__ __forceinline__ bool fail(RecordError why) {
    error = why;
    return false;
  }
};

}  // namespace millrace

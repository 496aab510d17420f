// SPDX-License-Identifier: Apache-2.0
// What the kernels that read records into columns are told. Java declares the same structures.
#pragma once

#include <cstdint>

namespace millrace {

constexpr int RECORD_THREADS = 128;
constexpr int MAX_FIELDS = 128;

// How the value of a field is read. Java repeats the numbers.
enum FieldType : int32_t {
  FIELD_OBJECT,
  FIELD_BOOL,
  FIELD_INTEGER,    // `width` bytes
  FIELD_FLOAT,      // `width` bytes
  FIELD_DECIMAL,    // `width` bytes
  FIELD_DATE,
  FIELD_TIME,
  FIELD_TIMESTAMP,  // in units of `width` nanoseconds, or in milliseconds and nanoseconds if 1
  FIELD_STRING,     // of bytes if `scale` is 1
  FIELD_LIST,
};

// A field, the first one the whole record. The fields of an object are neighbours. Only JSON has names.
struct RecordField {
  int32_t name;         // bytes from the fields to the name, in words, with a quotation mark and zeros behind it
  int32_t name_bytes;
  int32_t has_escapes;  // whether JSON writes the name otherwise than it is
  int32_t parent;
  int32_t first_child;
  int32_t children;
  int32_t type;
  int32_t width;
  int32_t precision;    // digits of a decimal, or of a time or timestamp behind its second
  int32_t scale;        // of a decimal; 1 if a timestamp has a time zone, a string is of bytes, or the only element of a list stands
                        // for it
  int32_t is_required;
  int32_t string;       // the number of a field of strings or lists among them
};

// Where the values of a field go.
struct RecordColumn {
  uint64_t values;    // of a string: int32 positions of its bytes, with the highest bit if it has escapes; of a list: int64, the
                      // position of its bytes, and in the high half what the format needs to find its elements
  uint64_t second;    // of a string or list: int32 lengths, then offsets, one more than rows; of a timestamp: int32 nanoseconds
  uint64_t validity;  // a bit per row, in words of 32
};

struct RecordArguments {
  uint64_t bytes;
  uint64_t records;      // int32 position of each record
  uint64_t ends;         // int32 position behind each record
  uint64_t others;       // int32 position of a further text of each record, negative if it has none; 0 if none has one
  uint64_t other_ends;   // int32 position behind it
  uint64_t programs;     // int32 number of the program that reads each record; 0 if the format has none
  uint64_t kept;         // uint8 per record: whether its strings are copied; 0 if all are
  uint64_t fields;       // RecordField
  uint64_t powers;       // of five, from MIN_POWER to MAX_POWER: the highest 128 bits, the high word first
  uint64_t errors;       // uint64 per record
  uint64_t null_counts;  // int32 per field, zero before, and one of undecided records; the first one is of records that are not rows
  uint64_t look_back;    // per field of strings or lists a counter and a word for each tile, zero before
  uint64_t result;       // mapped host memory: int32 numbers as null_counts, then int64 bytes or elements per such field
  int32_t rows;
  int32_t field_count;
  int32_t string_count;
  int32_t tiles;         // of json_offsets
  RecordColumn column[MAX_FIELDS];
};

struct RecordStringColumn {
  uint64_t starts;    // int32 positions in the bytes, with the highest bit if there are escapes
  uint64_t offsets;   // int32, one more than rows
  uint64_t bytes;     // where the strings go
  int64_t is_binary;  // whether they are bytes
};

struct RecordStringsArguments {
  uint64_t bytes;   // as in RecordArguments
  uint64_t format;  // what the format has behind the fields
  int64_t rows;
  RecordStringColumn column[MAX_FIELDS];
};

// Where the elements of a field's lists are found.
struct RecordElementsArguments {
  uint64_t bytes;        // as in RecordArguments
  uint64_t record_ends;  // likewise, as the next one
  uint64_t other_ends;
  uint64_t errors;
  uint64_t kept;
  uint64_t format;       // what the format has behind the fields
  uint64_t lists;        // int64 of the lists, as in RecordColumn
  uint64_t offsets;      // int32, one more than rows
  uint64_t starts;       // int32 position of each element
  uint64_t ends;         // int32 position behind each element
  uint64_t programs;     // int32 number of the program that reads each element; 0 if the format has none
  uint64_t kept_elements;  // uint8 per element, as `kept`; 0 if all are
  int64_t rows;
};

}  // namespace millrace

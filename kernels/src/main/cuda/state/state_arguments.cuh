// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels of state.cu.
#pragma once

#include "common/arguments.cuh"

namespace millrace {

constexpr int MAX_KEY_WORDS = 24;
constexpr int MAX_ACCUMULATOR_WORDS = 48;

// How a key word is made of the bytes in a column. The numbers are shared with Java.
enum KeyWordType : int32_t {
  WORD_BITS = 0,     // zero-extended
  WORD_FLOAT32 = 1,  // as WORD_BITS, with one bit pattern for all NaN
  WORD_FLOAT64 = 2,
  WORD_STRING_HEAD = 3,  // the length in the low half, the first 4 bytes in the high half
  WORD_STRING_TAIL = 4,  // bytes 4 to 11; of a long string its place in the strings of the state
  WORD_STORED_TAIL = 5   // as WORD_STRING_TAIL, of a row of another state table, whose head is the word before
};

constexpr int32_t NO_NULL_BIT = -1;

// One word of the key, read from a column or from the rows of another state table. Element i is at data + i * stride; that
// of WORD_STRING_HEAD and WORD_STRING_TAIL has the bytes between two offsets from data.
struct KeyWord {
  uint64_t data;
  uint64_t offsets;          // of strings: int32 per element, and one more; of WORD_STORED_TAIL: uint64 per chunk of
                             // the words of long strings, its address
  uint64_t validity;         // bit mask of the column, whose element i is bit row_offset + i; 0: no nulls
  int64_t row_offset;
  uint64_t output;           // element i of the result at output + i * stride; of WORD_STRING_HEAD its row, an int32;
                             // 0: nothing is written
  uint64_t output_validity;  // bit mask, zero before the launch; 0: none
  int32_t stride;            // bytes
  int32_t width;             // bytes: 1, 2, 4 or 8
  int32_t type;              // KeyWordType
  int32_t null_bit;          // bit of the null word that is set for a null; NO_NULL_BIT if the word is never null
};

// What an accumulator reads. The numbers are shared with Java.
enum ValueType : int32_t {
  VALUE_ONE = 0,  // 1 for each valid element: counts
  VALUE_INT8 = 1,
  VALUE_INT16 = 2,
  VALUE_INT32 = 3,
  VALUE_INT64 = 4,
  VALUE_FLOAT32 = 5,
  VALUE_FLOAT64 = 6,
  VALUE_STATE = 7,  // a word of a state row
  VALUE_SIGN32 = 8,  // 64 times the sign of an int32
  VALUE_SIGN64 = 9,
  VALUE_HALF = 10,   // only of a result: a word in every other word of its column
  VALUE_CONSTANT = 11,  // all rows have the same element, which is `data`; the stride is 0
  VALUE_STRING = 12,  // of OPERATION_SECOND: the two words are a head and a tail
  VALUE_DECIMAL = 13,  // likewise: the low and the high word of an int128
  VALUE_TIMESTAMP = 14  // likewise: milliseconds and nanoseconds
};

// The operation of an accumulator. Zero is the identity of each of them. The numbers are shared with Java.
enum Operation : int32_t {
  OPERATION_SUM = 0,
  OPERATION_MIN = 1,  // the largest complement
  OPERATION_MAX = 2,
  OPERATION_CARRY = 3,  // a further word of a sum: takes the carry out of the word before it
  OPERATION_ADD_FLOAT32 = 4,  // a sum in the order of rows: state_fold adds to it
  OPERATION_ADD_FLOAT64 = 5,
  OPERATION_M2 = 6,           // the first of three words of an M2, likewise
  OPERATION_FURTHER = 7,      // a further word of a value that state_fold combines
  OPERATION_FIRST = 8,        // the first of two words: the bits of the first value, and 1 if there is one
  OPERATION_LAST = 9,         // likewise of the last value
  OPERATION_WIDE_MIN = 10,    // the first of three words: a value of two words, and 1 if there is one
  OPERATION_WIDE_MAX = 11,
  OPERATION_WIDE_FIRST = 12,
  OPERATION_WIDE_LAST = 13,
  OPERATION_SECOND = 14,      // the second of these words
  OPERATION_WIDE_LIST = 15    // the first of three words, likewise: a string that grows by those of further rows
};

// One word of an accumulator.
struct AccumulatedValue {
  uint64_t data;      // 0 for VALUE_ONE; of OPERATION_SECOND as `second` in FoldedValue
  uint64_t validity;  // as in KeyWord
  int64_t row_offset;
  uint64_t output;    // the column of the result; 0: nothing is written, of OPERATION_FURTHER
  int32_t stride;     // bytes between elements of data
  int32_t type;       // ValueType
  int32_t operation;  // Operation
  int32_t result;     // ValueType of the result: VALUE_INT8 to VALUE_FLOAT64, VALUE_HALF
};

// What happens to a row of the result: Flink's row kinds. The numbers are shared with Java.
enum ChangeKind : int8_t {
  CHANGE_NONE = -1,
  CHANGE_INSERT = 0,
  CHANGE_UPDATE_BEFORE = 1,
  CHANGE_UPDATE_AFTER = 2,
  CHANGE_DELETE = 3
};

constexpr int32_t NO_ROW_COUNT = -1;

constexpr int PAGES_SHIFT = 4;  // binary logarithm of the pages of a chunk

// What a row of the batch is to its key. The claimant of a key is the row that came first to the batch's hash table. Its
// claim is the address of the key's state row; or NEW_KEY and the slot of the index that it claimed. The claim of any other
// row is FOLLOWS and the claimant.
//
// Between state_group and state_fetch a claim may be STAGED and a slot of the index: its entry has the hash of the key, and
// leads to a row in host memory, whose key is not compared yet.
constexpr uint64_t NEW_KEY = uint64_t{1} << 63;
constexpr uint64_t FOLLOWS = uint64_t{1} << 62;
constexpr uint64_t STAGED = uint64_t{1} << 61;

constexpr uint32_t NOT_STAGED = 0xffffffffu;

// Changed key p has row 2 * p of the result for its values before the update, and row 2 * p + 1 for those after it.
//
// The batch's hash table and the partials are zero before and after the launches.
struct StateArguments {
  uint64_t groups;       // uint64 per slot of the batch's hash table: hash of a key, claimant plus 1
  uint64_t claims;       // uint64 per row
  uint64_t followers;    // uint64 per claimant: the last batch in which the key had further rows, and the complement of the
                         // first of them
  uint64_t partials;     // per claimant the words of its state row from partial_base on, accumulated over the further rows
  uint64_t positions;    // uint32 per claimant: the number of the changed key. 0: none are written. If they are, the claims of
                         // claimants are addresses of state rows after the update
  uint64_t look_back;    // uint64 per tile
  uint64_t next_tile;    // uint32
  uint64_t index;        // uint64 per slot of the index: hash of a key, state row plus 1
  uint64_t chunks;       // uint64 per chunk: its address
  uint64_t host_chunks;  // bit per chunk: whether its rows lie in host memory and are staged; 0: no row is staged
  uint64_t staged;       // a state row per row of the batch: copies of rows in host memory, in the order of their numbers
  uint64_t staged_numbers;  // uint32 per row of the batch: the number of its state row, or NOT_STAGED; sorted behind state_group
  uint64_t staged_rows;  // uint32 likewise: the row of the batch
  uint64_t order;        // uint32 per row of the batch: the row that state_group takes there; 0: it takes them in their order
  uint64_t page_epochs;  // uint64 per page of rows: the epoch of the last batch that wrote to it
  uint64_t epoch;        // of this batch
  uint64_t kinds;        // ChangeKind per row of the result; 0: there is no result
  uint64_t row_kinds;    // ChangeKind per row of the batch; 0: all are inserted
  uint64_t strings;      // uint64 per chunk of the words of long strings: its address; only for keys with strings
  uint64_t new_rows;     // uint32 per new key: its first row; only for keys with strings
  uint64_t counts;       // mapped host memory: uint64 new keys above 31 bits of changed keys, all ones before; uint32 1 if a
                         // new key has a long string
  int64_t index_buckets;
  int64_t state_rows;    // rows in the state before the batch
  uint64_t oldest_time;  // a row whose time, its first accumulator, xor time_mask is less has expired; 0: none does
  uint64_t time_mask;
  int32_t rows;
  int32_t group_mask;
  int32_t partial_base;  // the first word of the sector of the first accumulator
  int32_t key_words;     // without the null word
  int32_t has_null_word;
  int32_t first_accumulator;  // its word in a state row
  int32_t accumulators;  // words of them
  int32_t row_words;     // words of a state row: key words, null word, accumulators, padding
  int32_t chunk_shift;   // binary logarithm of the rows of a chunk
  int32_t tiles;
  uint32_t batch;        // a number larger than those of earlier batches
  int32_t row_count;     // the accumulator that counts rows: a key with 0 rows is absent; NO_ROW_COUNT: none does
  KeyWord key[MAX_KEY_WORDS];
  AccumulatedValue value[MAX_ACCUMULATOR_WORDS];
};

// The long strings of new keys, after state_update wrote the rows of these keys.
struct StateStringsArguments {
  uint64_t new_rows;     // as in StateArguments
  uint64_t chunks;
  uint64_t strings;
  uint64_t look_back;    // uint64 per tile; zero before
  uint64_t next_tile;    // uint32; zero before
  uint64_t added;        // mapped host memory: uint64 words that were added
  int64_t state_rows;    // rows in the state before the batch
  int64_t string_words;  // words of long strings in the state before the batch
  int32_t new_keys;
  int32_t key_words;
  int32_t row_words;
  int32_t chunk_shift;
  int32_t tiles;
  int32_t padding;
  KeyWord key[MAX_KEY_WORDS];
};

struct StateIndexArguments {
  uint64_t source;
  uint64_t target;       // zero before
  int64_t source_slots;
  int64_t target_buckets;
};

}  // namespace millrace

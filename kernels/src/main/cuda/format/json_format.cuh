// SPDX-License-Identifier: Apache-2.0
// JSON as a format of records.
#pragma once

#include "json_elements.cuh"
#include "json_value.cuh"
#include "record_columns.cuh"

namespace millrace {

template <bool IS_CHANGE>
struct Json {
  static __device__ __forceinline__ bool read(const RecordArguments& arguments, RecordRow& row) {
    return read_record<IS_CHANGE>(arguments, row);
  }

  static __device__ __forceinline__ void resolve_escapes(const RecordStringsArguments&, const RecordStringColumn& column,
                                                         TextCursor& text, int32_t bytes, char* target) {
    if (column.is_binary != 0) {
      decode_base64(text, bytes, target);
    } else {
      millrace::resolve_escapes(text, bytes, target);
    }
  }
};

}  // namespace millrace

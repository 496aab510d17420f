// SPDX-License-Identifier: Apache-2.0
// JSON objects to columns: json_parse, json_offsets, json_elements and json_strings.

#include "json_elements.cuh"
#include "json_value.cuh"
#include "record_columns.cuh"

namespace millrace {

struct Json {
  static __device__ __forceinline__ bool read(const RecordArguments& arguments, RecordRow& row) {
    return read_record(arguments, row);
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

using namespace millrace;

MILLRACE_REPORT_SIZE(RecordArguments);
MILLRACE_REPORT_SIZE(RecordStringsArguments);
MILLRACE_REPORT_SIZE(RecordElementsArguments);

extern "C" __global__ void __launch_bounds__(RECORD_THREADS) json_parse(const __grid_constant__ RecordArguments arguments) {
  parse_records<Json>(arguments);
}

extern "C" __global__ void __launch_bounds__(OFFSET_THREADS) json_offsets(const __grid_constant__ RecordArguments arguments) {
  sum_lengths(arguments);
}

extern "C" __global__ void __launch_bounds__(RECORD_THREADS)
    json_elements(const __grid_constant__ RecordElementsArguments arguments) {
  find_elements(arguments);
}

extern "C" __global__ void __launch_bounds__(STRING_THREADS)
    json_strings(const __grid_constant__ RecordStringsArguments arguments) {
  copy_strings<Json>(arguments);
}

// SPDX-License-Identifier: Apache-2.0
// JSON objects to columns: json_parse, json_offsets and json_strings.

#include "json_value.cuh"
#include "record_columns.cuh"

namespace millrace {

struct Json {
  static __device__ __forceinline__ bool read(const RecordArguments& arguments, RecordRow& row) {
    return read_record(arguments, row);
  }

  static __device__ __forceinline__ void resolve_escapes(const RecordStringsArguments&, TextCursor& text, int32_t bytes,
                                                         char* target) {
    millrace::resolve_escapes(text, bytes, target);
  }
};

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(RecordArguments);
MILLRACE_REPORT_SIZE(RecordStringsArguments);

extern "C" __global__ void __launch_bounds__(RECORD_THREADS) json_parse(const __grid_constant__ RecordArguments arguments) {
  parse_records<Json>(arguments);
}

extern "C" __global__ void __launch_bounds__(OFFSET_THREADS) json_offsets(const __grid_constant__ RecordArguments arguments) {
  sum_lengths(arguments);
}

extern "C" __global__ void __launch_bounds__(STRING_THREADS)
    json_strings(const __grid_constant__ RecordStringsArguments arguments) {
  copy_strings<Json>(arguments);
}

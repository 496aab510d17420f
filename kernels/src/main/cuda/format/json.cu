// SPDX-License-Identifier: Apache-2.0
// JSON objects to columns: json_parse, json_offsets, json_elements and json_strings.

#include "json_format.cuh"

using namespace millrace;

MILLRACE_REPORT_SIZE(RecordArguments);
MILLRACE_REPORT_SIZE(RecordStringsArguments);
MILLRACE_REPORT_SIZE(RecordElementsArguments);

extern "C" __global__ void __launch_bounds__(RECORD_THREADS)
    json_parse(const __grid_constant__ RecordArguments arguments) {
  parse_records<Json<false>>(arguments);
}

extern "C" __global__ void __launch_bounds__(OFFSET_THREADS)
    json_offsets(const __grid_constant__ RecordArguments arguments) {
  sum_lengths(arguments);
}

extern "C" __global__ void __launch_bounds__(RECORD_THREADS)
    json_elements(const __grid_constant__ RecordElementsArguments arguments) {
  find_elements(arguments);
}

extern "C" __global__ void __launch_bounds__(STRING_THREADS)
    json_strings(const __grid_constant__ RecordStringsArguments arguments) {
  copy_strings<Json<false>>(arguments);
}

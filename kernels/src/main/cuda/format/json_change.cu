// SPDX-License-Identifier: Apache-2.0
// Changes in JSON, with their envelopes, to columns: kernels as in json.cu, behind json_change.

#include "json_format.cuh"

using namespace millrace;

MILLRACE_REPORT_SIZE(RecordArguments);
MILLRACE_REPORT_SIZE(RecordStringsArguments);
MILLRACE_REPORT_SIZE(RecordElementsArguments);

extern "C" __global__ void __launch_bounds__(RECORD_THREADS)
    json_change_parse(const __grid_constant__ RecordArguments arguments) {
  parse_records<Json<true>>(arguments);
}

extern "C" __global__ void __launch_bounds__(OFFSET_THREADS)
    json_change_offsets(const __grid_constant__ RecordArguments arguments) {
  sum_lengths(arguments);
}

extern "C" __global__ void __launch_bounds__(RECORD_THREADS)
    json_change_elements(const __grid_constant__ RecordElementsArguments arguments) {
  find_elements(arguments);
}

extern "C" __global__ void __launch_bounds__(STRING_THREADS)
    json_change_strings(const __grid_constant__ RecordStringsArguments arguments) {
  copy_strings<Json<true>>(arguments);
}

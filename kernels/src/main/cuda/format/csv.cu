// SPDX-License-Identifier: Apache-2.0
// Records of CSV to columns: csv_parse, csv_offsets and csv_strings.

#include "csv_value.cuh"
#include "record_columns.cuh"

namespace millrace {

struct Csv {
  static __device__ __forceinline__ bool read(const RecordArguments& arguments, RecordRow& row) {
    return read_csv_record(arguments, row);
  }

  static __device__ __forceinline__ void resolve_escapes(const RecordStringsArguments& arguments, const RecordStringColumn&,
                                                         TextCursor& text, int32_t bytes, char* target) {
    resolve_csv(*reinterpret_cast<const CsvPlan*>(arguments.format), text, bytes, target);
  }
};

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(RecordArguments);
MILLRACE_REPORT_SIZE(RecordStringsArguments);

extern "C" __global__ void __launch_bounds__(RECORD_THREADS) csv_parse(const __grid_constant__ RecordArguments arguments) {
  parse_records<Csv>(arguments);
}

extern "C" __global__ void __launch_bounds__(OFFSET_THREADS) csv_offsets(const __grid_constant__ RecordArguments arguments) {
  sum_lengths(arguments);
}

extern "C" __global__ void __launch_bounds__(STRING_THREADS)
    csv_strings(const __grid_constant__ RecordStringsArguments arguments) {
  copy_strings<Csv>(arguments);
}

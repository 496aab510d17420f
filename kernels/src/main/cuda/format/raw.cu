// SPDX-License-Identifier: Apache-2.0
// Records as they are to one column: raw_parse, raw_offsets and raw_strings.

#include "record_columns.cuh"
#include "text_utf8.cuh"

namespace millrace {

// What Java writes behind the fields.
struct RawPlan {
  int32_t is_text;  // in UTF-8
  int32_t is_line;  // has a line end that is not part of the value
};

struct Raw {
  static __device__ __forceinline__ bool read(const RecordArguments& arguments, RecordRow& row) {
    const RawPlan& plan = *reinterpret_cast<const RawPlan*>(arguments.fields + arguments.field_count * sizeof(RecordField));
    const RecordColumn& column = arguments.column[1];
    TextCursor& text = row.record.text;
    if (plan.is_line) text.drop_line_end();
    put<uint32_t>(column.values, row.row, static_cast<uint32_t>(text.at));
    put<int32_t>(column.second, row.row, text.end - text.at);
    if (plan.is_text && !skip_text(text)) return row.record.fail(RECORD_NO_UTF8);
    row.present.add(0);
    row.present.add(1);
    return true;
  }

  // No record is written otherwise than it is.
  static __device__ __forceinline__ void resolve_escapes(const RecordStringsArguments&, const RecordStringColumn&, TextCursor&,
                                                         int32_t, char*) {}
};

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(RecordArguments);
MILLRACE_REPORT_SIZE(RecordStringsArguments);

extern "C" __global__ void __launch_bounds__(RECORD_THREADS) raw_parse(const __grid_constant__ RecordArguments arguments) {
  parse_records<Raw>(arguments);
}

extern "C" __global__ void __launch_bounds__(OFFSET_THREADS) raw_offsets(const __grid_constant__ RecordArguments arguments) {
  sum_lengths(arguments);
}

extern "C" __global__ void __launch_bounds__(STRING_THREADS)
    raw_strings(const __grid_constant__ RecordStringsArguments arguments) {
  copy_strings<Raw>(arguments);
}

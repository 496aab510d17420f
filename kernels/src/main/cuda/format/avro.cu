// SPDX-License-Identifier: Apache-2.0
// Datums of Avro to columns: avro_parse, avro_offsets, avro_elements and avro_strings.

#include "avro_record.cuh"
#include "record_columns.cuh"

namespace millrace {

struct Avro {
  static __device__ __forceinline__ bool read(const RecordArguments& arguments, RecordRow& row) {
    return read_avro_record(arguments, row);
  }

  // The text of a symbol, whose number is the position.
  static __device__ __forceinline__ void resolve_escapes(const RecordStringsArguments& arguments, const RecordStringColumn&,
                                                         TextCursor& text, int32_t bytes, char* target) {
    const char* symbol = reinterpret_cast<const char*>(arguments.format) + symbol_of(arguments.format, text.at).text;
    for (int32_t i = 0; i < bytes; ++i) target[i] = symbol[i];
  }
};

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(RecordArguments);
MILLRACE_REPORT_SIZE(RecordStringsArguments);
MILLRACE_REPORT_SIZE(RecordElementsArguments);
MILLRACE_REPORT_SIZE(AvroStep);
MILLRACE_REPORT_SIZE(AvroPlan);
MILLRACE_REPORT_SIZE(AvroProgram);
MILLRACE_REPORT_SIZE(AvroSymbol);

extern "C" __global__ void __launch_bounds__(RECORD_THREADS) avro_parse(const __grid_constant__ RecordArguments arguments) {
  parse_records<Avro>(arguments);
}

extern "C" __global__ void __launch_bounds__(OFFSET_THREADS) avro_offsets(const __grid_constant__ RecordArguments arguments) {
  sum_lengths(arguments);
}

extern "C" __global__ void __launch_bounds__(RECORD_THREADS)
    avro_elements(const __grid_constant__ RecordElementsArguments arguments) {
  find_avro_elements(arguments);
}

extern "C" __global__ void __launch_bounds__(STRING_THREADS)
    avro_strings(const __grid_constant__ RecordStringsArguments arguments) {
  copy_strings<Avro>(arguments);
}

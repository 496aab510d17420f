// SPDX-License-Identifier: Apache-2.0
// The places of the elements of lists.
#pragma once

#include "json_text.cuh"
#include "record_value.cuh"

namespace millrace {

// Finds the elements of the list of a row, which is valid JSON; an object is its only element.
static __device__ inline void find_elements(const RecordElementsArguments& arguments) {
  const int32_t row = blockIdx.x * RECORD_THREADS + threadIdx.x;
  if (row >= arguments.rows) return;
  const int32_t last = element_of<int32_t>(arguments.offsets, row + 1);
  int32_t element = element_of<int32_t>(arguments.offsets, row);
  if (element == last) return;
  RecordText json = {};
  // The list ends before the end of its text, whichever that is.
  int32_t end = element_of<int32_t>(arguments.record_ends, row);
  if (arguments.other_ends != 0) end = max(end, element_of<int32_t>(arguments.other_ends, row));
  json.text = TextCursor::over(arguments.bytes, 0, end);
  const int32_t skew = json.text.at;  // the cursor, and the positions of lists, count from an aligned word
  json.text.at = static_cast<int32_t>(element_of<int64_t>(arguments.lists, row));
  const bool is_kept_row = is_kept(arguments.kept, arguments.errors, row);
  const bool is_array = json.text.peek() == '[';
  for (; element < last; ++element) {
    json.text.at += is_array ? 1 : 0;  // the bracket or comma in front
    const int32_t byte = skip_space(json.text);
    put<int32_t>(arguments.starts, element, json.text.at - skew);
    int32_t inside;
    skip_value(json, byte, inside);
    put<int32_t>(arguments.ends, element, json.text.at - skew);
    if (arguments.kept_elements != 0) put<uint8_t>(arguments.kept_elements, element, is_kept_row);
    skip_space(json.text);
  }
}

}  // namespace millrace

// SPDX-License-Identifier: Apache-2.0
// Offsets of a time zone: a table that io.millrace.expression.function.temporal.ZoneOffsetTable writes.
//
//   int32 count, int32 whether the offsets repeat with the calendar from the end of the table on
//   int64 the end of the table, in milliseconds
//   int64 starts of the intervals [count], in milliseconds; the first interval has no start
//   int64 starts of years like those after the end [14], by leap year and weekday; if the offsets repeat
//   int32 offsets of the intervals [count + 1], in milliseconds

#pragma once

#include "datetime_calendar.cuh"

namespace millrace {

// The same time of a year in the table that begins on the same weekday and is as long.
__device__ inline int64_t equivalent_in_table(int64_t millis, const int64_t* year_starts) {
  int64_t day = floor_divide(millis, MILLIS_PER_DAY);
  int32_t year = civil_date_of_epoch_day(day).year;
  int64_t year_start = epoch_day_of_civil_date({year, 1, 1});
  int32_t leap = last_day_of_month(year, 2) - 28;
  int32_t weekday = static_cast<int32_t>(floor_modulo<int64_t>(year_start + 3, 7));
  return millis - year_start * MILLIS_PER_DAY + year_starts[leap * 7 + weekday];
}

// The offset that holds at the time of the table, which are instants or local times.
static __device__ __noinline__ int64_t zone_offset(const char* table, int64_t millis) {
  const int32_t* header = reinterpret_cast<const int32_t*>(table);
  int32_t count = header[0];
  bool repeats = header[1] != 0;
  const int64_t* longs = reinterpret_cast<const int64_t*>(table) + 1;
  const int64_t* starts = longs + 1;
  const int64_t* year_starts = starts + count;
  if (repeats && millis >= longs[0]) millis = equivalent_in_table(millis, year_starts);
  const int32_t* offsets = reinterpret_cast<const int32_t*>(year_starts + (repeats ? 14 : 0));
  int32_t low = 0;
  int32_t high = count;
  while (low < high) {
    int32_t middle = (low + high) >> 1;
    if (starts[middle] <= millis) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return offsets[low];
}

}  // namespace millrace

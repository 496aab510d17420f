// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.kernel.slice.TimeSlices.TimeRange;

/** Rows and the range of their times. */
record TimedRows(SliceRows rows, TimeRange range) {}

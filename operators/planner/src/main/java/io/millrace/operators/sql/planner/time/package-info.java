// SPDX-License-Identifier: Apache-2.0
/** Watermarks, and the watermarks that end mini-batches. */
package io.millrace.operators.sql.planner.time;

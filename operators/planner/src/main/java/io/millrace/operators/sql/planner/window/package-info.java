// SPDX-License-Identifier: Apache-2.0
/** Aggregates by key and window of time. */
package io.millrace.operators.sql.planner.window;

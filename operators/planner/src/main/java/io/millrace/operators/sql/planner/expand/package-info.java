// SPDX-License-Identifier: Apache-2.0
/** Expand: several projections of each row, for grouping sets and distinct aggregates. */
package io.millrace.operators.sql.planner.expand;

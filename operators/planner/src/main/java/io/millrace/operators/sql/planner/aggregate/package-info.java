// SPDX-License-Identifier: Apache-2.0
/** Aggregates by key, in one phase or two. */
package io.millrace.operators.sql.planner.aggregate;

// SPDX-License-Identifier: Apache-2.0
/** Rows of literals. */
package io.millrace.operators.sql.planner.values;

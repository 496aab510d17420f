// SPDX-License-Identifier: Apache-2.0
/** Exchanges of batches between subtasks. */
package io.millrace.operators.sql.planner.exchange;

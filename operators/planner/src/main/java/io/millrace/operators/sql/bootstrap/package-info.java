// SPDX-License-Identifier: Apache-2.0
/**
 * Starts the planner hook: Flink finds {@link
 * io.millrace.operators.sql.bootstrap.MillraceSqlFactory} while it looks for its planner. Names no
 * class of the planner, since in a Flink distribution these are behind a class loader.
 */
package io.millrace.operators.sql.bootstrap;

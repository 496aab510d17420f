// SPDX-License-Identifier: Apache-2.0
/**
 * Operators and appenders that only jobs of Flink SQL use. The planner's package builds jobs of
 * them.
 */
package io.millrace.operators.sql.runtime;

// SPDX-License-Identifier: Apache-2.0
/**
 * The planner's row expressions as expressions over columns. Types are never derived: each has to
 * be the type that the planner gave, and an expression for which it is not is refused.
 */
package io.millrace.operators.sql.planner.rex;

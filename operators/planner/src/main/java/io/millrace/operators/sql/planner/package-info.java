// SPDX-License-Identifier: Apache-2.0
/**
 * A further stage of Flink SQL's planning, which replaces nodes of a plan by Millrace's. This
 * package and those below it are the only ones that know Flink's planner, Calcite and Scala.
 */
package io.millrace.operators.sql.planner;

// SPDX-License-Identifier: Apache-2.0
/** Calc: a filter and projections of each row. */
package io.millrace.operators.sql.planner.calc;

// SPDX-License-Identifier: Apache-2.0
/** Comparison operators, BETWEEN and IN. */
package io.millrace.expression.function.comparison;

/** Comparison operators, BETWEEN and IN. */
package io.millrace.expression.function.comparison;

/** Comparisons, ranges and lists. */
package io.millrace.expression.function.comparison;

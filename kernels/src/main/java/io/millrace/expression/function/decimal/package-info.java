/** Decimal arithmetic, functions and casts. */
package io.millrace.expression.function.decimal;

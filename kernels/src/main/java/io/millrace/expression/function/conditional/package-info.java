/** Conditional functions. */
package io.millrace.expression.function.conditional;

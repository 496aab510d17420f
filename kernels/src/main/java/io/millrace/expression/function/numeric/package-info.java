/** Integers and floating-point numbers: operations, casts, text. */
package io.millrace.expression.function.numeric;

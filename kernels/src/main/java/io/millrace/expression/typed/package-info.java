/** Expressions with known types and bound functions. */
package io.millrace.expression.typed;

/** Choices between values. */
package io.millrace.expression.function.conditional;

/** Functions and casts of strings. */
package io.millrace.expression.function.string;

/** LIKE, SIMILAR TO and regular expressions. */
package io.millrace.expression.function.pattern;

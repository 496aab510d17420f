/** Exceptions for invalid expressions and for rows that fail. */
package io.millrace.expression.error;

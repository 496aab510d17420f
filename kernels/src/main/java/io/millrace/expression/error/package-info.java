/** What is thrown for an expression that is invalid or fails for a row. */
package io.millrace.expression.error;

/** Functions and casts of dates, times and timestamps. */
package io.millrace.expression.function.temporal;

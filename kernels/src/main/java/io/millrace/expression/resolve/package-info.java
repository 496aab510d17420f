/** Gives expressions their types: functions, implicit casts, constants. */
package io.millrace.expression.resolve;

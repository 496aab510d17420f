/** Expressions and schemas written as SQL. */
package io.millrace.operators.sql;

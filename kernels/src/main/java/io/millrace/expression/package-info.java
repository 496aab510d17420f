/** The expression API for users: columns, literals, functions and sort keys. */
package io.millrace.expression;

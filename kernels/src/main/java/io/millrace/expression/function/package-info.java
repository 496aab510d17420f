/** The functions of SQL, by family: what they take, and their host and device functions. */
package io.millrace.expression.function;

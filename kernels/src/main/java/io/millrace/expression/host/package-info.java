/** Evaluates typed expressions over tables in host memory. */
package io.millrace.expression.host;

/** Samples of rows by the hash of their values. */
package io.millrace.expression.function.sample;

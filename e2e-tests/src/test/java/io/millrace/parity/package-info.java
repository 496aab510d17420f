/** Expressions against stock Flink SQL: same values, same types. */
package io.millrace.parity;

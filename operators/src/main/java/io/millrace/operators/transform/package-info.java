/** Operators that map each batch to a batch. */
package io.millrace.operators.transform;

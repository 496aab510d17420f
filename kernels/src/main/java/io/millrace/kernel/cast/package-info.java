/** Casts of columns between numeric types. */
package io.millrace.kernel.cast;

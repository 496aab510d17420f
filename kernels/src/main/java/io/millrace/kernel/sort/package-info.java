/** The order of rows by key columns. */
package io.millrace.kernel.sort;

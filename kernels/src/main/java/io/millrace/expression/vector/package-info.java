/** Values of up to a chunk of rows on the host, and functions over them. */
package io.millrace.expression.vector;

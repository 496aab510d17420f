/** Data types, schemas, columns and tables over device memory. */
package io.millrace.column;

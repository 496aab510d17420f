/** Three-valued logic. */
package io.millrace.expression.function.logical;

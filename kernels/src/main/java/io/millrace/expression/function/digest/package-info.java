/** Message digests. */
package io.millrace.expression.function.digest;

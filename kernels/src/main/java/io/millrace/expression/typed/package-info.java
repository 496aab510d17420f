/** Expressions whose types are known and whose functions are bound. */
package io.millrace.expression.typed;

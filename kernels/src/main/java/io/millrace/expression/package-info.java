/** Expressions over columns: their types, and the two evaluators that give them one meaning. */
package io.millrace.expression;

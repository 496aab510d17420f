/** Arithmetic operators and mathematical functions of all numbers. */
package io.millrace.expression.function.arithmetic;

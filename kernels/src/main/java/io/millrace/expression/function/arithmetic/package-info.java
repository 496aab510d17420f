// SPDX-License-Identifier: Apache-2.0
/** Arithmetic operators and mathematical functions of all numbers. */
package io.millrace.expression.function.arithmetic;

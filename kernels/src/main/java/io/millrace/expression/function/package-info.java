// SPDX-License-Identifier: Apache-2.0
/** The SQL functions by family: their signatures, host functions and device functions. */
package io.millrace.expression.function;

// SPDX-License-Identifier: Apache-2.0
/** Casts of columns between numeric types. */
package io.millrace.kernel.cast;

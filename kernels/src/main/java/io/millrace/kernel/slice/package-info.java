// SPDX-License-Identifier: Apache-2.0
/** The slices of time that the rows of a table belong to. */
package io.millrace.kernel.slice;

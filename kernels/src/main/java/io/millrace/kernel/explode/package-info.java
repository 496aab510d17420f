// SPDX-License-Identifier: Apache-2.0
/** Lists to rows, one row per element. */
package io.millrace.kernel.explode;

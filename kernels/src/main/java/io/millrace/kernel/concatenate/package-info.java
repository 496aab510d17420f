// SPDX-License-Identifier: Apache-2.0
/** The rows of several tables as one table. */
package io.millrace.kernel.concatenate;

// SPDX-License-Identifier: Apache-2.0
/** The stream element of Millrace's operators, a counted handle on a column table. */
package io.millrace.operators.batch;

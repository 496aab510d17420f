// SPDX-License-Identifier: Apache-2.0
/** Records of CSV to tables. */
package io.millrace.format.csv;

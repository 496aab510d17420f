// SPDX-License-Identifier: Apache-2.0
/** Records of CSV. */
package io.millrace.format.csv;

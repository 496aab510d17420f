// SPDX-License-Identifier: Apache-2.0
/** Records of any format to tables: fields, columns, faults, and the kernels of a format. */
package io.millrace.format.record;

// SPDX-License-Identifier: Apache-2.0
/** Records of Avro's binary encoding to tables and back. */
package io.millrace.format.avro;

// SPDX-License-Identifier: Apache-2.0
/** Records of any format to batches: what files and brokers have in common. */
package io.millrace.connectors.records;

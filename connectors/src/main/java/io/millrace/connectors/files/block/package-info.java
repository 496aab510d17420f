// SPDX-License-Identifier: Apache-2.0
/** Text files as blocks of whole lines, which become batches without a Java object for a line. */
package io.millrace.connectors.files.block;

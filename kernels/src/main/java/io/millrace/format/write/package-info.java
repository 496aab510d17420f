// SPDX-License-Identifier: Apache-2.0
/**
 * Records written from columns, on the GPU or on the host with the same bytes. A {@link
 * io.millrace.format.write.WritePlan} says how; what it says depends on the format.
 */
package io.millrace.format.write;

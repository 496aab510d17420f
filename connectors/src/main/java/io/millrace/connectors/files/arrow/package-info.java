// SPDX-License-Identifier: Apache-2.0
/** Files of Arrow IPC streams as a source. */
package io.millrace.connectors.files.arrow;

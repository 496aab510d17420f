// SPDX-License-Identifier: Apache-2.0
/** Tables to and from Apache Arrow: vectors, IPC messages and streams, the C data interface. */
package io.millrace.arrow;

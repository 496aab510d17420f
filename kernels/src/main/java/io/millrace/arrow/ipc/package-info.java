// SPDX-License-Identifier: Apache-2.0
/** Record batches and streams of Arrow IPC messages. */
package io.millrace.arrow.ipc;

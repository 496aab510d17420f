/** Record batches and streams of Arrow IPC messages. */
package io.millrace.arrow.ipc;

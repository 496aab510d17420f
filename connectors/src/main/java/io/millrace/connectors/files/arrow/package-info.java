/** Files of Arrow IPC streams as a source. */
package io.millrace.connectors.files.arrow;

/** What an operator needs of its chain, job and process: device, streams, memory, options. */
package io.millrace.operators.context;

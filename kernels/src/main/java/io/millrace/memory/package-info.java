/** Memory resources, buffers and their owners. */
package io.millrace.memory;

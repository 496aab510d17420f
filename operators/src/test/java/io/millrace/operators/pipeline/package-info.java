/** From pinned host memory through the device and back. */
package io.millrace.operators.pipeline;

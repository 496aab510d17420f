/** One class an operation over tables, each with a CUDA kernel and a plain-Java twin. */
package io.millrace.kernel;

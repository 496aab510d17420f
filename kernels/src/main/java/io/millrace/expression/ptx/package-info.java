/** Writes PTX: registers, instructions, modules and calls of the device function library. */
package io.millrace.expression.ptx;

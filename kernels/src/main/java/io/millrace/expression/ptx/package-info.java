/** Writes PTX: registers, instructions, modules, calls of the device function library. */
package io.millrace.expression.ptx;

// SPDX-License-Identifier: Apache-2.0
/** Writes PTX: registers, instructions, modules and calls of the device function library. */
package io.millrace.expression.ptx;

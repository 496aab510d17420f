// SPDX-License-Identifier: Apache-2.0
/** The C data interface and the C device data interface of Apache Arrow. */
package io.millrace.arrow.cdata;

// SPDX-License-Identifier: Apache-2.0
/** Test support for all modules: a device with tracked memory, and tables of Java values. */
package io.millrace.testing;

// SPDX-License-Identifier: Apache-2.0
/** The counterparts of our benchmarks in libcudf, built by the profile {@code libcudf} alone. */
package io.millrace.libcudf;

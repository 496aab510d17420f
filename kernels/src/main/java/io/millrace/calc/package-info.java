// SPDX-License-Identifier: Apache-2.0
/** Filters and projections as one generated kernel, or evaluated on the host. */
package io.millrace.calc;

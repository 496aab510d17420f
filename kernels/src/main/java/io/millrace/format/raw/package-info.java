// SPDX-License-Identifier: Apache-2.0
/** Records as they are to tables of one column. */
package io.millrace.format.raw;

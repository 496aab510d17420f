// SPDX-License-Identifier: Apache-2.0
/** Data types, schemas, columns and tables over device memory. */
package io.millrace.column;

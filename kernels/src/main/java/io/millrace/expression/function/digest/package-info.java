// SPDX-License-Identifier: Apache-2.0
/** Message digests. */
package io.millrace.expression.function.digest;

// SPDX-License-Identifier: Apache-2.0
/** Batches as bytes: type information and serializers of batches and of Arrow vectors. */
package io.millrace.operators.wire;

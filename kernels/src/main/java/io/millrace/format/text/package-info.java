// SPDX-License-Identifier: Apache-2.0
/** Values written as text: the twins of the CUDA sources {@code format/text_*.cuh}. */
package io.millrace.format.text;

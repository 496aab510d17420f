// SPDX-License-Identifier: Apache-2.0
/** UTF-8 in host memory. */
package io.millrace.text;

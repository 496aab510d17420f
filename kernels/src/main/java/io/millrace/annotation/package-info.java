// SPDX-License-Identifier: Apache-2.0
/** Who may use a public type. */
package io.millrace.annotation;

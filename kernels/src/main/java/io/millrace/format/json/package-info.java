// SPDX-License-Identifier: Apache-2.0
/** JSON objects to tables. */
package io.millrace.format.json;

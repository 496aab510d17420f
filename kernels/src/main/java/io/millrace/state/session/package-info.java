// SPDX-License-Identifier: Apache-2.0
/** Sessions in state tables: which have ended, which go on in a later table, which rows touch. */
package io.millrace.state.session;

// SPDX-License-Identifier: Apache-2.0
/** Regular expressions as automata over UTF-8 bytes: parser, NFA, DFA. */
package io.millrace.regexp;

/* SPDX-License-Identifier: MIT */
/*
 * report_parts.h - how a report looks: its style, and the hash by which its policy allows it.
 */
#ifndef FLYBALL_VIEW_REPORT_PARTS_H
#define FLYBALL_VIEW_REPORT_PARTS_H

extern const char fb_report_style[];

/* "sha256-...", of fb_report_style; a test computes it again. */
extern const char fb_report_style_hash[];

#endif

/* SPDX-License-Identifier: MIT */
/*
 * report_style.c - colours and sizes of pictures.
 *
 * Every colour has enough contrast on its panel: 4.5 for text, 3 for lines.
 */
#include "view/report_parts.h"

const char fb_report_style[] =
    ":root{--panel:#f6f7f9;--text:#1b1f24;--soft:#57606a;--grid:#d5dae0;--rate:#0b61c4;"
    "--limit:#8a4b00;--crit:#c4232b;--hold:#6f42c1;--ok:#1a7f37}\n"
    "@media (prefers-color-scheme:dark){:root{--panel:#161b22;--text:#e6edf3;--soft:#9aa5b1;"
    "--grid:#303842;--rate:#58a6ff;--limit:#f0a45d;--crit:#ff7b72;--hold:#c49bff;--ok:#4cc46a}}\n"
    "svg text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:var(--text);"
    "font-variant-numeric:tabular-nums}\n"
    "svg text.tick{fill:var(--soft);font-size:12px}svg text.end{text-anchor:end}\n"
    "svg text.mid{text-anchor:middle}svg text.h1{font-size:24px;font-weight:600}\n"
    "svg text.h2{font-size:16px;font-weight:600}\n"
    ".page{fill:var(--panel)}.grid{stroke:var(--grid);fill:none}\n"
    ".rate{stroke:var(--rate);stroke-width:1.8;fill:none;stroke-linejoin:round}\n"
    ".limit{stroke:var(--limit);stroke-width:1.8;stroke-dasharray:6 3;fill:none}\n"
    ".mark{stroke:var(--crit);stroke-width:1.8;fill:none}\n"
    ".wait{fill:var(--hold)}.bar{fill:var(--rate)}\n"
    ".share{stroke:var(--limit);stroke-width:1.5;stroke-dasharray:2 3;fill:none}\n";

/* SPDX-License-Identifier: MIT */
/*
 * report_style.c - colours and sizes of reports.
 *
 * Every colour has enough contrast on its panel: 4.5 for text, 3 for lines.
 */
#include "view/report_parts.h"

const char fb_report_style[] =
    ":root{--panel:#f6f7f9;--text:#1b1f24;--soft:#57606a;--grid:#d5dae0;--rate:#0b61c4;"
    "--limit:#8a4b00;--crit:#c4232b;--hold:#6f42c1;--ok:#1a7f37}\n"
    "@media (prefers-color-scheme:dark){:root{--panel:#161b22;--text:#e6edf3;--soft:#9aa5b1;"
    "--grid:#303842;--rate:#58a6ff;--limit:#f0a45d;--crit:#ff7b72;--hold:#c49bff;--ok:#4cc46a}}\n"
    "html{background:var(--panel);color:var(--text)}\n"
    "body{margin:0;font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\n"
    "main{max-width:920px;margin:0 auto;padding:16px}\n"
    "h1{font-size:24px;margin:8px 0;overflow-wrap:anywhere}h2{font-size:18px;margin:28px 0 8px}\n"
    "figure{margin:0 0 16px}figcaption{font-weight:600;overflow-wrap:anywhere}\n"
    "p{margin:0 0 8px}.note{color:var(--soft)}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "th,td{text-align:left;padding:4px 8px 4px 0;border-bottom:1px solid var(--grid);"
    "vertical-align:top}\n"
    "th{font-weight:600}td,tbody th{overflow-wrap:anywhere}.num td:not(:last-child){"
    "white-space:nowrap}\n"
    "table:not(.num) th{white-space:nowrap}.num td,.num thead "
    "th+th{text-align:right;padding-right:0;"
    "padding-left:8px}\n"
    "summary{cursor:pointer;color:var(--soft);min-height:44px;line-height:44px}\n"
    "main svg{display:block;width:100%;height:auto}main svg.narrow{display:none}\n"
    "@media (max-width:640px){main svg.wide{display:none}main svg.narrow{display:block}}\n"
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
    ".share{stroke:var(--limit);stroke-width:1.5;stroke-dasharray:2 3;fill:none}\n"
    "@media print{details{display:none}}\n";

const char fb_report_style_hash[] = "sha256-L4vJrXTXPmD7cLSdENU500zju5ugEYpohAZNU2tBhL4=";

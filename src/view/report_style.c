/* SPDX-License-Identifier: MIT */
/*
 * report_style.c - colours and sizes of pictures.
 *
 * Every colour has enough contrast on its panel: 4.5 for text, 3 for lines.
 */
#include "view/report_parts.h"

/* Plain colours, dark ones after them: many a viewer of pictures knows no custom properties. */
const char fb_report_style[] =
    "svg text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1b1f24;"
    "font-variant-numeric:tabular-nums}\n"
    "svg text.tick{fill:#57606a;font-size:12px}svg text.end{text-anchor:end}\n"
    "svg text.mid{text-anchor:middle}svg text.h1{font-size:24px;font-weight:600}\n"
    "svg text.h2{font-size:16px;font-weight:600}\n"
    ".page{fill:#f6f7f9}.grid{stroke:#d5dae0;fill:none}\n"
    ".rate{stroke:#0b61c4;stroke-width:1.8;fill:none;stroke-linejoin:round}\n"
    ".limit{stroke:#8a4b00;stroke-width:1.8;stroke-dasharray:6 3;fill:none}\n"
    ".mark{stroke:#c4232b;stroke-width:1.8;fill:none}\n"
    ".wait{fill:#6f42c1}.bar{fill:#0b61c4}\n"
    ".share{stroke:#8a4b00;stroke-width:1.5;stroke-dasharray:2 3;fill:none}\n"
    "@media (prefers-color-scheme:dark){\n"
    "svg text{fill:#e6edf3}svg text.tick{fill:#9aa5b1}\n"
    ".page{fill:#161b22}.grid{stroke:#303842}.rate{stroke:#58a6ff}.limit,.share{stroke:#f0a45d}\n"
    ".mark{stroke:#ff7b72}.wait{fill:#c49bff}.bar{fill:#58a6ff}}\n";

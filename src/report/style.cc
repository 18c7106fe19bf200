#include "report/style.h"

namespace protocom {

const char* report_style() {
  return R"css(
:root {
  color-scheme: light dark;
  --page: #fbfaf7; --card: #ffffff; --ink: #1d2129; --soft: #5b6270; --line: #dfe1e6; --grid: #eceef1;
  --inductive: #2f6fb3; --transductive: #b0531f; --good: #1c7a4a; --bad: #b3362f; --error: #1d2129;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171c; --card: #1c2027; --ink: #eceef2; --soft: #a3abb8; --line: #353b46; --grid: #2a2f38;
    --inductive: #5b9bdc; --transductive: #e08a4e; --good: #5cc490; --bad: #f0857c; --error: #f5f6f8;
  }
}
@media print {
  :root {
    --page: #ffffff; --card: #ffffff; --ink: #000000; --soft: #444444; --line: #bbbbbb; --grid: #e4e4e4;
    --inductive: #2f6fb3; --transductive: #b0531f; --good: #1c7a4a; --bad: #b3362f; --error: #000000;
  }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  .card, figure, table { break-inside: avoid; }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
main { max-width: 54rem; margin: 0 auto; padding: 2.2rem 1.2rem 3rem; }
h1 { font-size: 1.05rem; font-weight: 600; color: var(--soft); margin: 0 0 .6rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .4rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.8rem 0 .5rem; }
p { margin: .5rem 0; max-width: 42rem; }
.headline { font-size: clamp(1.2rem, 1rem + 1.6vw, 1.65rem); line-height: 1.35; font-weight: 600; max-width: 46rem; text-wrap: pretty; }
.soft, figcaption { color: var(--soft); font-size: .9rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .5rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
th:first-child { text-align: left; padding-left: 0; white-space: normal; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { font-weight: 600; font-size: .9rem; }
tbody th { font-weight: 600; }
td small, th small { display: block; font-weight: 400; color: var(--soft); font-size: .8rem; }
td b { font-weight: 700; }
small.up { color: var(--good); }
small.down { color: var(--bad); }
@media (max-width: 34rem) {
  main { padding: 1.4rem .9rem 2rem; }
  .card { padding: .7rem .8rem; }
  table { font-size: .9rem; }
  th, td { padding: .45rem .3rem; }
  tbody th:first-child { white-space: nowrap; }
  th small.about { display: none; }
}
.tag { white-space: nowrap; }
.tag::before { content: ""; display: inline-block; width: .62em; height: .62em; border-radius: 2px; margin-right: .4em; background: var(--inductive); }
.tag.transductive::before { background: var(--transductive); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); gap: 1rem; }
figure { margin: 0; }
figure svg { display: block; width: 100%; height: auto; max-width: 30rem; }
figcaption { margin-top: .3rem; }
.charts figcaption { margin: 0 0 .2rem; color: var(--ink); font-weight: 600; }
.picture { margin-top: 1rem; }
.picture img { display: block; width: 100%; height: auto; border: 1px solid var(--line); border-radius: 10px; background: #fff; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere;
      font: .85rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; font-size: .9rem; margin: .6rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
dd code { font: .85em ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
svg text { fill: var(--ink); font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
svg .label { font-weight: 600; }
svg .value { font-weight: 600; font-variant-numeric: tabular-nums; }
svg .note, svg .tick { fill: var(--soft); font-size: 11px; font-variant-numeric: tabular-nums; }
svg .grid { stroke: var(--grid); stroke-width: 1; }
svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .reference { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3; }
svg .bar.inductive { fill: var(--inductive); }
svg .bar.transductive { fill: var(--transductive); }
svg .error { stroke: var(--error); stroke-width: 1.5; }
)css";
}

}  // namespace protocom

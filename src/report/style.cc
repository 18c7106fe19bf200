#include "report/detail/figure_style.h"
#include "report/detail/html_parts.h"

namespace protocom {
namespace {

constexpr const char* kPage = R"css(
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
main { max-width: 54rem; margin: 0 auto; padding: 2.2rem 1.2rem 3rem; min-width: 0; }
.side { display: none; }
.contents { border: 1px solid var(--line); border-radius: 10px; background: var(--card); padding: .5rem .9rem; margin: .9rem .9rem 0; }
.contents summary { font-weight: 600; }
:is(.side, .contents) ul { list-style: none; margin: 0; padding: 0; font-size: .9rem; }
:is(.side, .contents) ul ul { padding-left: .9rem; }
:is(.side, .contents) a { display: block; padding: .22rem 0; color: var(--soft); text-decoration: none; overflow-wrap: anywhere; }
:is(.side, .contents) a:hover { color: var(--ink); text-decoration: underline; }
.contents a { padding: .4rem 0; }
[id] { scroll-margin-top: 1rem; }
h1 { font-size: 1.05rem; font-weight: 600; color: var(--soft); margin: 0 0 .6rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.2rem 0 .5rem; overflow-wrap: anywhere; }
#next ul { margin: .4rem 0; padding-left: 1.2rem; max-width: 46rem; }
#next li { margin: .3rem 0; }
h3 { font-size: 1rem; margin: 1.8rem 0 .5rem; }
p { margin: .5rem 0; max-width: 44rem; }
a { color: var(--m-completed); text-underline-offset: .15em; }
:focus-visible { outline: 2px solid var(--m-completed); outline-offset: 2px; }
.headline { font-size: clamp(1.2rem, 1rem + 1.6vw, 1.65rem); line-height: 1.35; font-weight: 600; max-width: 46rem; text-wrap: pretty; }
.finding { font-weight: 600; }
.soft, figcaption, .caption { color: var(--soft); font-size: .9rem; }
.soft { margin-bottom: 1rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.caption { margin: 0 0 .5rem; }
.nb { white-space: nowrap; }
th, td { text-align: right; padding: .45rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
th:first-child { text-align: left; padding-left: 0; white-space: normal; min-width: 8.5rem; overflow-wrap: anywhere; position: sticky; left: 0; background: var(--card); }
.words { text-align: left; white-space: normal; }
thead th { white-space: normal; vertical-align: bottom; font-weight: 600; font-size: .9rem; }
tbody tr:last-child > * { border-bottom: 0; }
tbody th { font-weight: 600; }
td small, th small { display: block; font-weight: 400; color: var(--soft); font-size: .8rem; }
td b { font-weight: 700; }
small.up { color: var(--good); }
small.down { color: var(--bad); }
.tag { overflow-wrap: anywhere; }
.tag::before { content: ""; display: inline-block; width: .62em; height: .62em; border-radius: 2px; margin-right: .4em; background: var(--series); }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: 1rem; margin: 1rem 0; align-items: start; }
.charts > * { min-width: 0; }
.charts .card:not(.wide) table { font-size: .9rem; }
.charts .card:not(.wide) :is(th, td) { padding: .4rem .35rem; }
:is(th, td):last-child, .charts .card:not(.wide) :is(th, td):last-child { padding-right: 0; }
.charts .card:not(.wide) th:first-child { padding-left: 0; }
.charts .wide { grid-column: 1 / -1; }
figure { margin: 0; }
figure svg { display: block; }
figure:not(.wide) svg { width: 100%; height: auto; max-width: 26rem; }
.rows > summary { margin: 0; color: var(--soft); font-size: .9rem; }
.rows > .card { border: 0; padding: .6rem 0 0; }
.rows > .card > .caption { display: none; }
figcaption { margin-top: .3rem; }
.charts figcaption { margin: 0 0 .4rem; color: var(--ink); font-weight: 600; }
.picture { margin-top: 1rem; }
.picture img { display: block; width: 100%; height: auto; border: 1px solid var(--line); border-radius: 10px; background: #fff; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere;
      font: .85rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
details.section { border-top: 1px solid var(--line); padding: .7rem 0; }
summary { cursor: pointer; list-style-position: outside; margin-left: 1.1rem; }
summary :is(h2, h3) { display: inline; }
summary .soft { display: block; margin: .15rem 0 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; font-size: .9rem; margin: .6rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
dd code { font: .85em ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
@media (min-width: 74rem) {
  .page { display: grid; grid-template-columns: 15rem minmax(0, 54rem); gap: 2rem; justify-content: center; }
  main { margin: 0; }
  .side { display: block; position: sticky; top: 0; max-height: 100vh; overflow-y: auto; align-self: start; padding: 2.2rem 0 1rem; }
  .contents { display: none; }
}
@media (max-width: 34rem) {
  main { padding: 1.4rem .9rem 2rem; }
  .card { padding: .7rem .8rem; }
  table { font-size: .88rem; }
  th, td { padding: .4rem .3rem; }
  th:first-child { max-width: 8.5rem; }
}
@media print {
  .side, .contents { display: none; }
  .page { display: block; }
  details.section::details-content { content-visibility: visible; block-size: auto; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 11pt; }
  main { max-width: none; padding: 0; }
  .card, figure, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .charts { grid-template-columns: 1fr 1fr; }
  .scroll { overflow: visible; }
  th:first-child { position: static; }
  a { color: inherit; text-decoration: none; }
}
)css";

}  // namespace

std::string report_style() { return palette_css(":root") + figure_css() + kPage; }

}  // namespace protocom

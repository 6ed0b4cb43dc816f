"""The frame of a report: its head, its colours in light and dark, and for paper."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
:root { --ground: #ffffff; --text: #1c2733; --soft: #55616d; --line: #d5dbe1; --bar: #2a788e;
  --count: #b9c4cd; --rate: #9a3a63; --expected: #1c2733; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14181d; --text: #e8ecf0; --soft: #aab4be; --line: #3a444e; --bar: #4fb0c6;
    --count: #4a5661; --rate: #f08ab4; --expected: #e8ecf0; } }
@media print { :root { --ground: #ffffff; --text: #000000; --soft: #444444; --line: #cccccc;
    --bar: #2a788e; --count: #bbbbbb; --rate: #9a3a63; --expected: #000000; }
  figure, tr { break-inside: avoid; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 3rem; background: var(--ground);
  color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
.lead { font-size: 1.15rem; font-weight: 600; }
figure { margin: 1rem 0; }
figcaption, footer { color: var(--soft); font-size: .9rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--text); font: 13px system-ui, sans-serif; }
svg text.small { font-size: 11px; }
svg .bar { fill: var(--bar); } svg .count { fill: var(--count); }
svg .whisker { stroke: var(--text); stroke-width: 1.5; }
svg .grid { stroke: var(--line); }
svg .band { fill: var(--rate); opacity: .22; }
svg .rate { fill: none; stroke: var(--rate); stroke-width: 2; }
svg .expected { fill: none; stroke: var(--expected); stroke-width: 1.5; stroke-dasharray: 5 3; }
table { border-collapse: collapse; font-size: .9rem; min-width: 60%; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td { font-variant-numeric: tabular-nums; }
.sources td { overflow-wrap: anywhere; min-width: 6rem; }
@media screen { .numbers td + td, .numbers th + th { white-space: nowrap; }
  figure, .wide { overflow-x: auto; } figure svg { min-width: 36rem; } }
pre { overflow-x: auto; white-space: pre-wrap; font-size: .85rem; border: 1px solid var(--line);
  border-radius: 4px; padding: .7rem; }
</style>
</head>
<body>
<main>
<h1>$heading</h1>
$body
</main>
<footer><p>Made by uncletc $version.</p></footer>
</body>
</html>
"""

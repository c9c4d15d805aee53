/* Claims of several sizes: the rate, how long the items of a claim are in hand, and what becomes of them
 * if their worker dies. */

LB.batches = function () {
  var results = LB.results.map(function (r) {
    return { name: r.name, rows: (r.run.batches || []).map(function (b) { return { b: b, cell: r.run.cells[b.cell] }; }).filter(function (row) { return row.cell; }) };
  }).filter(function (r) { return r.rows.length; });
  if (results.length === 0) return;
  var section = LB.section("batches", "By items per claim", "The rate is the median over the runs. In hand: from a claim until the last of its items is ended, on average; so long a worker\u2019s death finds them with it. At a death: what becomes of these items.");
  results.forEach(function (r) {
    if (LB.results.length > 1) section.appendChild(LB.el("h3", {}, r.name));
    section.appendChild(LB.batchTable("By items per claim" + (LB.results.length > 1 ? ", " + r.name : ""), r.rows));
    LB.batchCharts(section, r.rows);
  });
};

LB.batchTable = function (label, rows) {
  var columns = [["strategy", "strategy"], ["engine", "engine"], ["scenario", "scenario"], ["items", "batch", 1], ["success/s", "successes_per_s", 1], ["in hand", "in_hand_ns", 1], ["at a death", "at_a_death"]];
  return LB.table({ full: true, label: label,
    columns: columns.map(function (c) { return { label: c[0], key: c[1], num: !!c[2], sort: true }; }),
    rows: rows.map(function (row) {
      var b = row.b;
      return { attributes: { "data-cell": row.cell.id }, cells: [LB.nameCell(row.cell), row.cell.engine, row.cell.scenario, LB.num(b.batch, LB.whole), LB.num(b.successes_per_s), LB.num(b.in_hand_ns, LB.ns), { text: LB.told(b.at_a_death), cls: "phrase" }] };
    }) });
};

/* One small chart for each line that a sweep over sizes makes, all with the same axes. */
LB.batchCharts = function (section, rows) {
  var lines = [], byTitle = {}, drawn = rows.filter(function (row) { return row.b.batch > 0 && row.b.successes_per_s > 0; });
  drawn.forEach(function (row) {
    var title = row.cell.strategy + " on " + row.cell.engine + ", " + LB.baseName(row.cell, "batch");
    if (!byTitle[title]) lines.push(byTitle[title] = { title: title, rows: [] });
    byTitle[title].rows.push(row);
  });
  lines = lines.filter(function (line) { return line.rows.length > 1; });
  if (lines.length === 0) return;
  var sizes = d3.extent(drawn, function (row) { return row.b.batch; }), rates = d3.extent(drawn, function (row) { return row.b.successes_per_s; });
  section.appendChild(LB.el("h3", {}, "Successes per second by items per claim"));
  section.appendChild(LB.el("p", { "class": "note" }, "Medians, on logarithmic axes that are the same in each chart. A cross is a case that violated a guarantee."));
  var grid = LB.el("div", { "class": "grid" });
  section.appendChild(grid);
  lines.forEach(function (line) {
    LB.figure(grid, { title: line.title, draw: function (svg, width) { LB.batchChart(svg, width, line.rows, sizes, rates); } });
  });
};

LB.batchChart = function (svg, width, rows, sizes, rates) {
  var f = LB.frame(svg, width, 150, [20, 14, 38, 46]);
  var x = d3.scale.log().domain([sizes[0] / 1.1, sizes[1] * 1.1]).range([0, f.width]);
  var y = d3.scale.log().domain([rates[0] / 1.3, rates[1] * 1.3]).range([f.height, 0]);
  var points = rows.slice().sort(function (a, b) { return a.b.batch - b.b.batch; });
  LB.axis(f, x, "bottom", { values: points.map(function (row) { return row.b.batch; }), label: "items per claim" });
  LB.axis(f, y, "left", { values: LB.decades(y.domain()[0], y.domain()[1]), grid: true, label: "success/s" });
  f.g.append("path").attr({ "class": "line", d: d3.svg.line().x(function (row) { return x(row.b.batch); }).y(function (row) { return y(row.b.successes_per_s); })(points) });
  points.forEach(function (row) {
    var cx = x(row.b.batch), cy = y(row.b.successes_per_s);
    var mark = row.cell.verdict === "violated" ? LB.cross(f.g, cx, cy) : f.g.append("circle").attr({ "class": "dot", cx: cx, cy: cy, r: 3 });
    LB.title(mark, LB.plural(LB.whole(row.b.batch), "item") + " per claim: " + LB.count(row.b.successes_per_s) + "/s");
  });
};

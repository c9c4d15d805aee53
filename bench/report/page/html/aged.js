/* What old tables cost: the measurements of `lockbench age --format json`, as a chart for each operation
 * with a line for each state of the items, and as a table with what was not measured. */

LB.isAge = function (result) { return result.run.command === "age"; };

LB.ages = function () {
  return d3.merge(LB.results.map(function (r) { return r.aged || []; })).map(function (age) {
    var rows = [];
    Object.keys(age.aged).forEach(function (state) {
      var s = age.aged[state];
      Object.keys(s.operations || {}).forEach(function (op) {
        var o = s.operations[op], points = (o.points || []).filter(function (p) { return p.items > 0 && LB.isNumber(p.cost); });
        rows.push({ state: state, op: op, law: o, points: points, unit: s.unit || age.unit, reason: o.not_measured,
                    grows: /^(linear|worse)$/.test(o.grows) && /^(put|claim|complete|error|renew)$/.test(op) });
      });
    });
    return { age: age, rows: rows, name: age.strategy + " on " + age.target };
  });
};

/* Each operation on one item that grows, in a sentence. */
LB.growing = function () {
  return d3.merge(LB.ages().map(function (a) {
    return a.rows.filter(function (r) { return r.grows; }).map(function (r) {
      return a.name + ": " + r.op + " reads " + LB.count(r.law.per_1000) + " " + r.unit + " more for each 1,000 " + r.state + " items.";
    });
  }));
};

LB.aged = function () {
  var ages = LB.ages();
  if (ages.length === 0) return;
  var section = LB.section("aged", "Aged tables", "What one operation reads, by the number of items in the table that are finished, failed, due later, and so on. These are counts and not times. An operation on one item should cost the same however many others there are; recover and count work on all items.");
  ages.forEach(function (a) {
    LB.add(section, [LB.el("h3", {}, a.name), LB.el("p", { "class": "note" }, "Statistics of the tables: " + LB.told(a.age.statistics) + ".")]);
    Object.keys(a.age.aged).forEach(function (state) { LB.agedState(section, state, a.age.aged[state]); });
    LB.agedCharts(section, a);
    if (a.rows.length) section.appendChild(LB.agedTable(a));
    LB.agedPlans(section, a);
  });
};

/* What was not measured, and the index that is missing. */
LB.agedState = function (section, state, s) {
  if (s.not_measured) section.appendChild(LB.el("p", {}, "Not measured with " + state + " items: " + s.not_measured));
  if (s.leaves_no_rows) section.appendChild(LB.el("p", {}, "No rows of " + state + " items stay in the tables."));
  if (s.interrupted) section.appendChild(LB.el("p", { "class": "alarm" }, "Interrupted: not all sizes were measured with " + state + " items."));
  if (s.missing_index) LB.add(section, [LB.el("p", {}, "Missing for " + s.missing_for + " with " + state + " items: it costs " + LB.count(s.cost_with_index) + " with this index."),
    LB.el("p", {}, LB.el("code", { "class": "command" }, "CREATE INDEX " + s.missing_index.split(" ")[0] + "_" + s.missing_for + " ON " + s.missing_index + ";"))]);
};

/* One chart for each operation and unit; those of one unit have the same axes. */
LB.agedCharts = function (section, a) {
  var charts = d3.nest().key(function (r) { return r.op + ": " + r.unit; }).entries(a.rows.filter(function (r) { return r.points.length > 1; }));
  if (charts.length === 0) return;
  section.appendChild(LB.el("p", { "class": "note" }, "Both axes are logarithmic (the costs count from 1, so that 0 has a place), and the same for all charts of a unit. Dashed: predicted up to 1,000,000 items. A tick across a line: the plan is another from there on."));
  var grid = LB.el("div", { "class": "grid" });
  section.appendChild(grid);
  charts.forEach(function (c) {
    var rows = c.values, alike = a.rows.filter(function (r) { return r.unit === rows[0].unit && r.points.length > 1; });
    LB.figure(grid, { title: a.name + ": " + rows[0].op, note: rows.map(function (r) { return r.state + ": " + r.law.grows; }).join("; "),
      draw: function (svg, width) { LB.agedChart(svg, width, rows, alike); },
      table: function () {
        return LB.table({ label: rows[0].op, columns: [{ label: "items" }, { label: "number", num: true }, { label: rows[0].unit, num: true }, { label: "plan" }],
          rows: d3.merge(rows.map(function (r) { return r.points.map(function (p) { return { cells: [r.state, LB.num(p.items, LB.whole), LB.num(p.cost, LB.whole), p.plan || ""] }; }); })) });
      } });
  });
};

LB.agedEnd = function (r) { return { items: Math.max(1e6, r.points[r.points.length - 1].items), cost: r.law.at_1000000 }; };

LB.agedChart = function (svg, width, rows, alike) {
  var f = LB.frame(svg, width, 150, [20, 64, 38, 46]), top = d3.max(alike, function (r) { return Math.max(d3.max(r.points, function (p) { return p.cost; }), r.law.at_1000000 || 0); });
  var items = d3.extent(d3.merge(alike.map(function (r) { return r.points.map(function (p) { return p.items; }).concat([1e6]); })));
  var x = d3.scale.log().domain(items).range([0, f.width]), log = d3.scale.log().domain([1, Math.max(10, top + 1) * 1.3]).range([f.height, 0]);
  function y(cost) { return log(cost + 1); }
  LB.axis(f, x, "bottom", { values: LB.decades(items[0], items[1]), label: "items (log scale)" });
  LB.axis(f, log, "left", { values: [1].concat(LB.decades(1, top).map(function (v) { return v + 1; })), grid: true, label: rows[0].unit + " (log scale)", format: function (v) { return LB.axisCount(v - 1); } });
  var path = d3.svg.line().x(function (p) { return x(p.items); }).y(function (p) { return y(p.cost); }), ends = [];
  rows.forEach(function (r) {
    var last = r.points[r.points.length - 1], end = LB.agedEnd(r);
    f.g.append("path").attr({ "class": r.grows ? "bad-line" : "line", "data-state": r.state, d: path(r.points) });
    if (LB.isNumber(end.cost) && end.items > last.items) f.g.append("path").attr({ "class": "second", d: path([last, end]) });
    r.points.forEach(function (p, i) {
      LB.title(f.g.append("circle").attr({ "class": r.grows ? "bad" : "dot", cx: x(p.items), cy: y(p.cost), r: 3 }), LB.whole(p.items) + " " + r.state + " items: " + LB.whole(p.cost) + " " + r.unit);
      if (i > 0 && p.plan !== r.points[i - 1].plan) f.g.append("path").attr({ "class": "span", d: "M" + (x(p.items) + x(r.points[i - 1].items)) / 2 + "," + ((y(p.cost) + y(r.points[i - 1].cost)) / 2 - 6) + "v12" });
    });
    ends.push({ name: r.state, y: y(LB.isNumber(end.cost) ? end.cost : last.cost) });
  });
  LB.endLabels(f, ends, 11);
};

LB.agedTable = function (a) {
  var sizes = d3.set(d3.merge(a.rows.map(function (r) { return r.points.map(function (p) { return p.items; }); }))).values().map(Number).sort(d3.ascending);
  return LB.table({ full: true, label: "What operations read, " + a.name,
    columns: [{ label: "items", sort: true }, { label: "operation", sort: true }, { label: "unit" }].concat(sizes.map(function (n) { return { label: LB.whole(n), key: "at-" + n, num: true, sort: true }; }), [{ label: "grows", key: "grows", sort: true }, { label: "at 1,000,000", key: "predicted", num: true, sort: true }]),
    rows: a.rows.map(function (r) {
      var costs = sizes.map(function (n) { var p = r.points.filter(function (q) { return q.items === n; })[0]; return LB.num(p && p.cost, LB.whole); });
      return { attributes: { "data-aged": r.state + " " + r.op }, cells: [r.state, r.op, r.unit].concat(costs, [r.reason ? { text: "not measured: " + r.reason, cls: "phrase" } : r.law.grows || "n/a", LB.num(r.law.at_1000000, function (v) { return LB.isNumber(v) ? LB.whole(Math.round(v)) : "n/a"; })]) };
    }) });
};

/* Both plans beside each other, where an operation has another one from some size on. */
LB.agedPlans = function (section, a) {
  var changes = [];
  a.rows.forEach(function (r) {
    r.points.forEach(function (p, i) {
      if (i > 0 && p.plan !== r.points[i - 1].plan) changes.push([r.state, r.op, "measured", LB.whole(r.points[i - 1].items) + " to " + LB.whole(p.items), r.points[i - 1].plan, p.plan]);
    });
    if (r.law.plan_may_change_at) changes.push([r.state, r.op, "by the planner\u2019s estimates", "about " + LB.whole(r.law.plan_may_change_at), r.points[r.points.length - 1].plan, r.law.plan_may_become]);
  });
  if (changes.length === 0) return;
  LB.add(section, [LB.el("h4", {}, "Plans that change"), LB.table({ full: true, label: "Plans that change, " + a.name,
    columns: ["items", "operation", "how it is known", "at", "plan before", "plan after"].map(function (label) { return { label: label }; }),
    rows: changes.map(function (c) { return { cells: c }; }) })]);
};

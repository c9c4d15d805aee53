/* One cell: over time, latencies, holds, fairness, waits, and how it was run. */

LB.isViolated = function (c) { return c.verdict === "violated"; };

LB.detail = function () {
  var cells = LB.cells.filter(function (c) { return c.runs && c.runs.length; });
  if (cells.length === 0) return;
  var section = LB.section("detail", "In detail");
  var select = LB.el("select", { id: "which-cell" }), body = LB.el("div", { "aria-live": "polite" });
  cells.forEach(function (c) { select.appendChild(LB.el("option", { value: c.id }, LB.longName(c) + (LB.isViolated(c) ? " \u2717" : ""))); });
  function move(step) {
    select.selectedIndex = (select.selectedIndex + step + cells.length) % cells.length;
    draw(cells[select.selectedIndex]);
  }
  function draw(cell) {
    LB.figures = LB.figures.filter(function (f) { return !f.detail; });
    var before = LB.figures.length;
    body.textContent = "";
    LB.drawCell(body, cell);
    for (var i = before; i < LB.figures.length; i++) LB.figures[i].detail = true;
  }
  select.addEventListener("change", function () { draw(cells[select.selectedIndex]); });
  section.appendChild(LB.el("div", { "class": "picker" }, LB.el("label", { "for": "which-cell" }, "Case"), select,
    LB.el("button", { type: "button", on: ["click", function () { move(-1); }] }, "\u2190 previous"), LB.el("button", { type: "button", on: ["click", function () { move(1); }] }, "next \u2192")));
  section.appendChild(body);
  LB.show = function (cell, jump) {
    select.value = cell.id;
    draw(cell);
    if (jump) { section.scrollIntoView(); select.focus({ preventScroll: true }); }
  };
  function worth(c) { return (LB.verdictOf(c).cls === "violated" ? 4 : 0) + (LB.isViolated(c) ? 2 : 0) + (c.history && c.history.zooms.some(function (z) { return LB.doubles(z.holds).length; }) ? 1 : 0); }
  LB.show(cells.slice().sort(function (a, b) { return worth(b) - worth(a) || a.id - b.id; })[0]);
};

LB.drawCell = function (body, cell) {
  var v = LB.verdictOf(cell);
  body.appendChild(LB.el("p", {}, LB.el("strong", { "class": v.cls }, v.text), " \u00b7 ", LB.plural(cell.runs.length, "run"), " \u00b7 ", cell.question || ""));
  cell.runs.forEach(function (run, i) {
    if (run.state !== "complete") body.appendChild(LB.el("p", { "class": "alarm" }, "Run " + (i + 1) + " is " + run.state + (run.reason ? ": " + run.reason : "") + "."));
  });
  if (cell.reproduce) body.appendChild(LB.el("code", { "class": "command", tabindex: "0" }, cell.reproduce));
  if (cell.history) LB.zooms(body, cell);
  cell.runs.forEach(function (run, i) {
    if (run.course) body.appendChild(LB.el("p", {}, "Run " + (i + 1) + " over time: " + run.course.text + "."));
  });
  LB.overTime(body, cell);
  LB.gaugesOverTime(body, cell);
  LB.spectrum(body, cell);
  LB.heat(body, cell);
  LB.strips(body, cell);
  LB.fairness(body, cell);
  LB.waits(body, cell);
  LB.itemWaits(body, cell);
  LB.ranks(body, cell);
  LB.runsTable(body, cell);
  body.appendChild(LB.el("details", {}, LB.el("summary", {}, "How it was run"), LB.el("h3", {}, "Options"), LB.pairs(cell.options),
    LB.el("h3", {}, "Configuration"), LB.pairs(cell.config, LB.setting), LB.el("h3", {}, "Server"), LB.pairs(cell.runs[0].server_settings), LB.el("h3", {}, "Server\u2019s counters, run 1"), LB.pairs(cell.runs[0].server_costs)));
};

LB.seconds = function (ns) { return LB.digits(ns / 1e9) + " s"; };

/* --- holds around a violation --- */

LB.zooms = function (body, cell) {
  cell.history.zooms.forEach(function (zoom) {
    var f = cell.guarantees[zoom.guarantee], witness = f && f.witnesses[zoom.witness], lanes = [];
    if (!witness) return;
    zoom.holds.forEach(function (h) { if (lanes.indexOf(h[0]) < 0) lanes.push(h[0]); });
    (witness.operations || []).forEach(function (o) { if (lanes.indexOf(o.worker) < 0) lanes.push(o.worker); });
    lanes.sort(function (a, b) { return a - b; });
    LB.figure(body, {
      title: "Holds around the violation of " + zoom.guarantee + (f.witnesses.length > 1 ? ", " + (zoom.witness + 1) + " of " + f.witnesses.length + " shown" : ""),
      note: LB.words(witness.text) + "." + (zoom.omitted ? " " + zoom.omitted + " other holds in this window are not drawn." : ""),
      key: [["hold", cell.history.is_queue ? "this item in hand" : "this resource held"], ["hold other", "others"], ["wait", "an operation of the witness, asked until answered"]].concat(LB.doubles(zoom.holds).length ? [["bad-fill", "held twice"]] : []),
      draw: function (svg, width) { LB.zoomChart(svg, width, zoom, witness, lanes); },
      table: function () {
        return LB.table({ label: "Holds around the violation", columns: [{ label: "worker", num: true }, { label: cell.history.is_queue ? "item" : "resource", num: true }, { label: "from", num: true }, { label: "to", num: true }, { label: "note" }],
          rows: zoom.holds.map(function (h) { return { cells: [LB.num(h[0], String), LB.num(h[1], String), LB.num(h[2], LB.ns), LB.num(h[3], LB.ns), (h[4] ? "of the witness" : "") + (h[5] ? " never given back" : "")] }; }) });
      }
    });
  });
};

LB.zoomChart = function (svg, width, zoom, witness, lanes) {
  var step = lanes.length > 24 ? 12 : 24, f = LB.frame(svg, width, lanes.length * step, [10, 12, 38, 78]);
  var x = d3.scale.linear().domain([zoom.from_ns, zoom.to_ns]).range([0, f.width]).clamp(true);
  function y(worker) { return lanes.indexOf(worker) * step; }
  LB.timeAxis(f, x, 120);
  lanes.forEach(function (worker) { LB.label(f.g, "worker " + worker, -8, y(worker) + step / 2, 12); });
  zoom.holds.slice().sort(function (a, b) { return a[4] - b[4]; }).forEach(function (h) {
    LB.title(f.g.append("rect").attr({ "class": h[4] ? "hold" : "hold other", x: x(h[2]), y: y(h[0]) + step * 0.22, width: Math.max(1, x(h[3]) - x(h[2])), height: step * 0.56 }),
             "worker " + h[0] + ", " + h[1] + ": " + LB.ns(h[2]) + " to " + LB.ns(h[3]) + (h[5] ? ", never given back" : ""));
  });
  LB.patterns();
  LB.doubles(zoom.holds).forEach(function (d) {
    f.g.append("rect").attr({ "class": "bad", opacity: 0.18, x: x(d[0]), y: 0, width: Math.max(1.5, x(d[1]) - x(d[0])), height: f.height });
    if (x(d[1]) - x(d[0]) < 6) LB.cross(f.g, (x(d[0]) + x(d[1])) / 2, -3); /* else too narrow to be seen */
    f.g.append("rect").attr({ fill: "url(#crossed)", x: x(d[0]), y: 0, width: Math.max(1.5, x(d[1]) - x(d[0])), height: f.height });
  });
  witness.operations.forEach(function (o) {
    var to = o.end_ns === null ? zoom.to_ns : o.end_ns;
    LB.title(f.g.append("rect").attr({ "class": "wait", x: x(o.invoke_ns), y: y(o.worker) + 2, width: Math.max(1, x(to) - x(o.invoke_ns)), height: step - 4 }), o.op + " " + (o.end || "not answered") + (o.value === null ? "" : " " + o.value));
  });
};

/* Times at which two holds of the witness's resource or item were there together. */
LB.doubles = function (holds) {
  var marked = holds.filter(function (h) { return h[4]; }), list = [];
  marked.forEach(function (a, i) {
    marked.slice(i + 1).forEach(function (b) {
      if (a[1] === b[1] && a[2] < b[3] && b[2] < a[3]) list.push([Math.max(a[2], b[2]), Math.min(a[3], b[3])]);
    });
  });
  return list.slice(0, 60);
};

/* --- over time --- */

LB.shadeFaults = function (f, x, history) {
  if (history.warm_ns > 0) {
    LB.patterns();
    f.g.append("rect").attr({ "class": "warm", x: 0, y: 0, width: x(history.warm_ns), height: f.height });
    f.g.append("rect").attr({ fill: "url(#dots)", x: 0, y: 0, width: x(history.warm_ns), height: f.height });
    if (x(history.warm_ns) > 55) f.g.append("text").attr({ "class": "soft", x: 4, y: 12 }).text("warm-up");
  }
  var end = -1e9;
  history.faults.forEach(function (fault) {
    var from = x(fault.begin_ns), w = Math.max(1.5, x(fault.end_ns) - from), text = fault.kind + (fault.n > 1 ? " \u00d7" + fault.n : "");
    LB.title(f.g.append("rect").attr({ "class": "fault", x: from, y: 0, width: w, height: f.height }), text + ", worker " + fault.worker + ", " + LB.ns(fault.begin_ns) + " to " + LB.ns(fault.end_ns));
    f.g.append("rect").attr({ fill: "url(#rising)", x: from, y: 0, width: w, height: f.height, "pointer-events": "none" });
    if (from - end < text.length * 6.5) return;
    f.g.append("text").attr({ "class": "soft", x: from + 2, y: -4 }).text(text);
    end = from;
  });
};

LB.overTime = function (body, cell) {
  var h = cell.history;
  if (h) {
    var rate = function (n) { return n * 1e9 / h.bin_ns; }, refused = d3.sum(h.refusals) > 0;
    LB.figure(body, {
      title: "Throughput over time, run " + h.run,
      note: h.faults.length ? "Faults are shaded where they were put." : null,
      key: [["line", "successes per second"]].concat(refused ? [["second", "refusals per second"]] : [], h.faults.length ? [["fault", "fault"]] : [], h.warm_ns ? [["warm", "warm-up"]] : []),
      draw: function (svg, width) {
        var f = LB.frame(svg, width, 190, [24, 14, 38, 52]);
        var x = d3.scale.linear().domain([0, h.length_ns]).range([0, f.width]);
        var y = d3.scale.linear().domain([0, Math.max(1, rate(d3.max(h.successes)), refused ? rate(LB.quantile(h.refusals, 0.98)) : 0) * 1.05]).range([f.height, 0]).clamp(true);
        LB.axis(f, y, "left", { ticks: 4, grid: true, label: h.faults.length ? null : "per second", left: 48 });
        LB.shadeFaults(f, x, h);
        var line = d3.svg.line().interpolate("step-after").x(function (n, i) { return x(i * h.bin_ns); }).y(function (n) { return y(rate(n)); });
        if (refused) f.g.append("path").attr("class", "second").attr("d", line(h.refusals));
        f.g.append("path").attr("class", "line").attr("d", line(h.successes));
        LB.timeAxis(f, x, 90, "since the run began", true);
      },
      table: function () { return LB.binTable(h, rate); }
    });
  } else if ((cell.intervals || []).some(function (r) { return r.length; })) {
    LB.intervalChart(body, cell, "Throughput over time", "successes per second", function (i) { return i[1] > 0 ? i[2] * 1e9 / i[1] : 0; }, LB.count,
      cell.runs.some(function (r) { return r.faults > 0; }) ? "There were faults; only a kept history (--keep-history) says when." : "One line for each run.");
    LB.intervalChart(body, cell, "99th percentile over time", "p99", function (i) { return i[5] > 0 ? i[5] : null; }, LB.ns, "Of an acquire or claim, second by second, within 7 %; in an open loop from the intended start. Where a second has fewer than 1000 samples nothing is drawn. A latency heat map needs the history (--keep-history).");
  }
};

/* Every second phase of the scenario is shaded, and each has its name. */
LB.shadePhases = function (f, x, phases) {
  phases.forEach(function (phase, i) {
    var from = x(phase.start_ns), w = x(phase.start_ns + phase.length_ns) - from;
    if (i % 2) f.g.append("rect").attr({ "class": "warm", x: from, y: 0, width: w, height: f.height });
    if (w > phase.name.length * 6.5) f.g.append("text").attr({ "class": "soft", x: from + 2, y: 11 }).text(phase.name);
  });
};

/* What the server, its tables and lockbench were at: index behind the six numbers of an interval. */
LB.gauges = [["Items not done", "items"], ["CPU of lockbench", "cores"], ["Memory of lockbench", "bytes"], ["CPU of the server", "cores"], ["Live rows", "rows"], ["Dead rows", "rows"],
  ["Tables", "bytes"], ["Indexes", "bytes"], ["Database", "bytes"], ["Buffers hit", "per second"], ["Buffers read", "per second"], ["WAL or redo", "bytes per second"], ["Checkpoints", "in the interval"],
  ["Vacuums under way", "vacuums"], ["Locks", "locks"], ["Locks that are waited for", "locks"], ["Transactions not purged", "transactions"], ["Sessions that wait", "sessions"]];

LB.gaugesOverTime = function (body, cell) {
  LB.gauges.forEach(function (gauge, g) {
    var value = function (p) { return p.length > 6 + g ? p[6 + g] : null; };
    if ((cell.intervals || []).some(function (r) { return r.some(function (p) { return value(p) > 0; }); }))
      LB.intervalChart(body, cell, gauge[0] + " over time", gauge[1], value, LB.count, null);
  });
};

LB.quantile = function (values, q) { return d3.quantile(values.slice().sort(d3.ascending), q); };

LB.binTable = function (h, rate) {
  var rows = [], step = Math.ceil(h.successes.length / 40);
  for (var i = 0; i < h.successes.length; i += step)
    rows.push({ cells: [LB.num(i * h.bin_ns, LB.seconds), LB.num(rate(d3.mean(h.successes.slice(i, i + step)))), LB.num(rate(d3.mean(h.refusals.slice(i, i + step))))] });
  return LB.el("div", {}, LB.table({ label: "Throughput over time", columns: [{ label: "from", num: true }, { label: "success/s", num: true }, { label: "refusals/s", num: true }], rows: rows }),
    h.faults.length ? LB.table({ label: "Faults", columns: [{ label: "fault" }, { label: "worker", num: true }, { label: "from", num: true }, { label: "to", num: true }, { label: "times", num: true }],
      rows: h.faults.map(function (x) { return { cells: [x.kind, LB.num(x.worker, String), LB.num(x.begin_ns, LB.ns), LB.num(x.end_ns, LB.ns), LB.num(x.n)] }; }) }) : null);
};

LB.intervalChart = function (body, cell, title, label, value, format, note) {
  var known = function (p) { return value(p) !== null; };
  var runs = cell.intervals.filter(function (r) { return r.some(known); });
  if (!runs.length) return;
  LB.figure(body, {
    title: title, note: note,
    draw: function (svg, width) {
      var f = LB.frame(svg, width, 170, [24, 44, 38, 60]);
      var x = d3.scale.linear().domain([0, d3.max(runs, function (r) { var l = r[r.length - 1]; return l[0] + l[1]; })]).range([0, f.width]);
      var y = d3.scale.linear().domain([0, Math.max(1, d3.max(runs, function (r) { return d3.max(r, value); })) * 1.05]).range([f.height, 0]);
      LB.axis(f, y, "left", { ticks: 4, grid: true, format: format, label: label, left: 56 });
      LB.shadePhases(f, x, cell.runs[0].phases || []);
      LB.timeAxis(f, x, 90, "of the measured part", true);
      runs.forEach(function (r, i) {
        var last = r.filter(known).pop(), line = d3.svg.line().defined(known).x(function (p) { return x(p[0] + p[1] / 2); }).y(function (p) { return y(value(p)); });
        f.g.append("path").attr({ "class": "line", opacity: 1 - 0.6 * i / Math.max(1, runs.length), "stroke-dasharray": i % 4 ? 2 + 2 * (i % 4) + " 2" : null, d: line(r) });
        if (r.filter(known).length === 1) f.g.append("circle").attr({ "class": "dot", cx: x(last[0] + last[1] / 2), cy: y(value(last)), r: 3 });
        if (runs.length <= 6) f.g.append("text").attr({ "class": "soft", x: x(last[0] + last[1] / 2) + 5, y: y(value(last)), dy: ".35em" }).text("run " + (i + 1));
      });
    },
    table: function () {
      var rows = [];
      runs.forEach(function (r, k) { r.forEach(function (i) { rows.push({ cells: [LB.num(k + 1), LB.num(i[0], LB.seconds), LB.num(value(i), format)] }); }); });
      return LB.table({ label: title, columns: [{ label: "run", num: true }, { label: "from", num: true }, { label: label, num: true }], rows: rows });
    }
  });
};

/* --- latencies --- */

LB.percentile = function (inverse) {
  var nines = 100 * (1 - 1 / inverse);
  return inverse <= 1 ? "0 %" : inverse >= 1e6 ? "1-1/" + LB.count(inverse) : Number(nines.toFixed(Math.max(0, Math.ceil(Math.log10(inverse)) - 2))) + " %";
};

LB.spectrumOf = function (cell) {
  var s = cell.spectra || {}, flat = s["acquire-response"] || s.acquire, points = [];
  for (var i = 0; flat && i < flat.length; i += 2) points.push([flat[i], Math.max(1, flat[i + 1])]);
  return points;
};

LB.spectrum = function (body, cell) {
  var own = LB.spectrumOf(cell);
  if (own.length < 2) return;
  var others = LB.cells.filter(function (c) { return c !== cell && c.result === cell.result && c.engine === cell.engine && c.scenario === cell.scenario; })
    .map(function (c) { return { cell: c, points: LB.spectrumOf(c) }; }).filter(function (o) { return o.points.length > 1; });
  var open = (cell.spectra || {})["acquire-response"];
  LB.figure(body, {
    title: "Percentile spectrum of " + (cell.shape === "queue" ? "claims" : "acquires"),
    note: "All runs together, " + (open ? "from the intended start (response)" : "from the first try (service)") + ", to the maximum at the right." + (others.length ? " Thin lines: the other strategies on " + cell.engine + "." : ""),
    key: [["line", cell.strategy]].concat(open && cell.spectra.acquire ? [["second", "from the actual start (service)"]] : [], others.length ? [["context", "others"]] : []),
    draw: function (svg, width) {
      var right = others.length && others.length <= 8 && width > 480 ? 126 : 14;
      var f = LB.frame(svg, width, 230, [20, right, 38, 60]), all = own.concat.apply(own, others.map(function (o) { return o.points; }));
      var x = d3.scale.log().domain([1, d3.max(own, function (p) { return p[0]; })]).range([0, f.width]).clamp(true);
      var y = d3.scale.log().domain(d3.extent(all, function (p) { return p[1]; })).range([f.height, 0]);
      y.domain([y.domain()[0] * 0.9, y.domain()[1] * 1.1]);
      var line = d3.svg.line().x(function (p) { return x(p[0]); }).y(function (p) { return y(p[1]); });
      var ticks = [1, 2, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].filter(function (t) { return t <= x.domain()[1]; });
      LB.axis(f, y, "left", { values: LB.decades(y.domain()[0], y.domain()[1]), format: LB.axisNs, grid: true, label: "latency", left: 56 });
      LB.axis(f, x, "bottom", { values: ticks, format: LB.percentile, grid: true, label: "percentile" }).selectAll(".tick text").attr("dx", function (v, i) { return i === 0 ? ".9em" : 0; });
      var ends = [{ name: cell.strategy, y: y(own[own.length - 1][1]) }];
      others.forEach(function (o) {
        var shown = o.points.filter(function (p) { return p[0] <= x.domain()[1]; });
        if (shown.length === 0) return;
        LB.title(f.g.append("path").attr({ "class": "context", d: line(shown) }), o.cell.strategy);
        ends.push({ name: o.cell.strategy, y: y(shown[shown.length - 1][1]), other: true });
      });
      if (right > 100) LB.endLabels(f, ends, 17);
      if (open && cell.spectra.acquire) f.g.append("path").attr({ "class": "second", d: line(LB.spectrumOf({ spectra: { acquire: cell.spectra.acquire } })) });
      f.g.append("path").attr({ "class": "line", "stroke-width": 2, d: line(own) });
    },
    table: function () {
      return LB.table({ label: "Percentile spectrum", columns: [{ label: "percentile" }, { label: "latency", num: true }], rows: own.map(function (p, i) { return { cells: [i === own.length - 1 ? "maximum" : LB.percentile(p[0]), LB.num(p[1], LB.ns)] }; }) });
    }
  });
};

LB.heat = function (body, cell) {
  var h = cell.history, cells = [];
  if (!h || h.heat.cells.length === 0) return;
  for (var i = 0; i < h.heat.cells.length; i += 3) cells.push(h.heat.cells.slice(i, i + 3));
  var step = h.heat.rows_per_octave, low = d3.min(cells, function (c) { return c[1]; }), high = d3.max(cells, function (c) { return c[1]; }) + 1;
  var most = d3.max(cells, function (c) { return c[2]; });
  function ns(row) { return Math.pow(2, row / step); }
  LB.figure(body, {
    title: "Latency heat map, run " + h.run,
    note: "From the first try to the grant, by when it was granted. The darker, the more grants; the darkest is " + LB.whole(most) + ".",
    draw: function (svg, width) {
      var f = LB.frame(svg, width, Math.max(110, Math.min(240, (high - low) * 8)), [24, 14, 38, 60]);
      var x = d3.scale.linear().domain([0, h.length_ns]).range([0, f.width]), y = d3.scale.log().domain([ns(low), ns(high)]).range([f.height, 0]);
      LB.shadeFaults(f, x, h);
      var shade = d3.scale.log().domain([1, Math.max(2, most)]).range([0.16, 1]);
      cells.forEach(function (c) {
        f.g.append("rect").attr({ "class": "cell", x: x(c[0] * h.heat.column_ns), width: f.width / h.heat.columns + 0.3, y: y(ns(c[1] + 1)), height: Math.max(1, y(ns(c[1])) - y(ns(c[1] + 1)) + 0.3), opacity: shade(c[2]).toFixed(2) });
      });
      LB.axis(f, y, "left", { values: LB.decades(y.domain()[0], y.domain()[1]), format: LB.axisNs, label: h.faults.length ? null : "latency", left: 56 });
      LB.timeAxis(f, x, 90, "since the run began", true);
    },
    table: function () {
      var sums = {};
      cells.forEach(function (c) { sums[c[1]] = (sums[c[1]] || 0) + c[2]; });
      return LB.table({ label: "Latencies", columns: [{ label: "from", num: true }, { label: "to", num: true }, { label: "grants", num: true }],
        rows: Object.keys(sums).map(Number).sort(d3.ascending).map(function (row) { return { cells: [LB.num(ns(row), LB.ns), LB.num(ns(row + 1), LB.ns), LB.num(sums[row], LB.whole)] }; }) });
    }
  });
};

/* --- holds --- */

LB.strips = function (body, cell) {
  var h = cell.history;
  if (!h || h.strips.length === 0) return;
  var noun = h.is_queue ? "class" : "resource", over = d3.sum(h.strips, function (s) { return s.over; });
  LB.figure(body, {
    title: h.is_queue ? "Items in hand over time, run " + h.run : "Holds over time, run " + h.run,
    note: "Every one of " + LB.whole(d3.sum(h.strips, function (s) { return s.holds; })) + " holds is in the picture, in slices of " + LB.ns(h.bin_ns) + ", as the holders believed."
      + (h.n_strips > h.strips.length ? " Shown are " + h.strips.length + " of " + h.n_strips + ": those with most overlaps, then the busiest." : ""),
    key: [["area", h.is_queue ? "items in hand, on average" : "share of the time held, or holders"]].concat(over ? [h.is_lease ? ["hollow", "more believe to hold it than may: with leases no violation by itself"] : ["cross", h.is_queue ? "an item was handed out twice at once" : "more holders than there may be"]] : []),
    draw: function (svg, width) {
      var f = LB.frame(svg, width, h.strips.length * 46, [24, 14, 38, 84]), x = d3.scale.linear().domain([0, h.length_ns]).range([0, f.width]);
      LB.shadeFaults(f, x, h);
      h.strips.forEach(function (s, i) {
        var top = i * 46 + 6, max = Math.max(h.is_queue ? 0.001 : s.capacity, d3.max(s.held_permille) / 1000), y = d3.scale.linear().domain([0, max]).range([top + 34, top]);
        LB.label(f.g, noun + " " + s.object, -8, top + 10, 13);
        f.g.append("text").attr({ "class": "soft", x: -8, y: top + 26, "text-anchor": "end", dy: ".35em" }).text("0\u2013" + LB.digits(max));
        f.g.append("path").attr({ "class": "area", style: "opacity:.45", d: d3.svg.area().interpolate("step-after").x(function (v, k) { return x(k * h.bin_ns); }).y0(top + 34).y1(function (v) { return y(v / 1000); })(s.held_permille.concat(s.held_permille.slice(-1))) });
        f.g.append("path").attr({ "class": "guide", d: "M0," + (top + 34) + "H" + f.width });
        for (var k = 0; k < s.over_bins.length; k += 2) {
          var at = x((s.over_bins[k] + 0.5) * h.bin_ns);
          var mark = h.is_lease ? f.g.append("circle").attr({ "class": "hollow", cx: at, cy: top + 4, r: 3 }) : LB.cross(f.g, at, top + 4);
          LB.title(mark, LB.plural(s.over_bins[k + 1], "grant") + " while others believed to hold it");
        }
      });
      LB.timeAxis(f, x, 90, "since the run began", true);
    },
    table: function () {
      return LB.table({ label: "Holds", columns: [{ label: noun }, { label: "capacity", num: true }, { label: "holds", num: true }, { label: "when there was no room", num: true }, { label: "held on average", num: true }],
        rows: h.strips.map(function (s) { return { cells: [String(s.object), LB.num(s.capacity), LB.num(s.holds, LB.whole), LB.num(s.over, LB.whole), LB.num(d3.mean(s.held_permille) / 1000)] }; }) });
    }
  });
};

/* --- waits by tenant and priority --- */

LB.itemWaits = function (body, cell) {
  var rows = [];
  cell.runs.forEach(function (run, i) {
    var waits = run.measures && run.measures.waits || {};
    (waits.tenant || []).concat(waits.priority || []).forEach(function (w) {
      rows.push({ cells: [String(i + 1), w.name, LB.num(w.claimed, LB.whole), LB.num(w.wait_p50_ns, LB.ns), LB.num(w.wait_p95_ns, LB.ns), LB.num(w.wait_max_ns, LB.ns), LB.num(w.left, LB.whole),
        !w.served || w.served.value === null ? "" : LB.digits(w.served.value) + (w.served.high === null ? "" : " [" + LB.digits(w.served.low) + ", " + LB.digits(w.served.high) + "]")] });
    });
  });
  if (rows.length) body.appendChild(LB.el("details", { open: "" }, LB.el("summary", {}, "Waits of items by tenant and priority"),
    LB.table({ label: "Waits of items", columns: ["run", "items of", "claimed", "p50", "p95", "max", "left", "served"].map(function (l, i) { return { label: l, num: i > 1 }; }), rows: rows })));
};

/* --- fairness and waiting --- */

LB.fairness = function (body, cell) {
  var run = cell.runs[(cell.history ? cell.history.run : 1) - 1], w = run.worker_successes || [], m = run.measures || {};
  if (w.length < 2 || d3.sum(w) === 0) return;
  var sorted = w.slice().sort(d3.descending), mean = d3.mean(w);
  LB.figure(body, {
    title: "Fairness and waiting, run " + (cell.runs.indexOf(run) + 1),
    note: "Successes of each worker, most first; the dashed line is the mean. Jain " + LB.digits(m.jain) + ", Gini " + LB.digits(m.gini) + ", longest wait " + LB.ns(m.longest_wait_ns) + (m.overtakes ? ", overtaken " + LB.plural(m.overtakes, "time") : "") + ".",
    draw: function (svg, width) {
      var f = LB.frame(svg, width, 110, [20, 44, 22, 52]), x = d3.scale.linear().domain([0, sorted.length]).range([0, f.width]);
      var y = d3.scale.linear().domain([0, sorted[0] * 1.05]).range([f.height, 0]), gap = sorted.length > 100 ? 0 : Math.min(4, f.width / sorted.length / 4);
      LB.axis(f, y, "left", { ticks: 3, grid: true, label: "successes", left: 48 });
      sorted.forEach(function (n, i) { f.g.append("rect").attr({ "class": "hold", x: x(i), y: y(n), width: Math.max(0.5, Math.min(60, x(1)) - gap), height: f.height - y(n) }); });
      f.g.append("path").attr({ "class": "guide", d: "M0," + y(mean) + "H" + f.width });
      f.g.append("text").attr({ "class": "soft", x: f.width + 4, y: y(mean), dy: ".35em" }).text("mean");
      f.g.append("text").attr({ "class": "soft", x: f.width, y: f.height + 16, "text-anchor": "end" }).text(LB.plural(sorted.length, "worker"));
    },
    table: function () {
      return LB.table({ label: "Successes of each worker", columns: [{ label: "worker" }, { label: "successes", num: true }], rows: w.map(function (n, i) { return { cells: [String(i), LB.num(n, LB.whole)] }; }) });
    }
  });
};

/* --- what sessions waited for --- */

LB.waits = function (body, cell) {
  var sums = {}, samples = 0;
  cell.runs.forEach(function (run) {
    if (!run.waits) return;
    samples += run.waits.samples;
    Object.keys(run.waits.sessions).forEach(function (n) { sums[n] = (sums[n] || 0) + run.waits.sessions[n] * run.waits.samples; });
  });
  var names = Object.keys(sums).sort(function (a, b) { return sums[b] - sums[a]; }).slice(0, 12);
  if (names.length === 0 || samples === 0) return;
  LB.figure(body, {
    title: "What sessions did, sampled", note: "Sessions at a time, on average over " + LB.whole(samples) + " samples of the server.",
    draw: function (svg, width) {
      var left = Math.min(220, width * 0.42), f = LB.frame(svg, width, names.length * 20, [4, 50, 24, left]), x = d3.scale.linear().domain([0, sums[names[0]] / samples]).range([0, f.width]);
      LB.axis(f, x, "bottom", { ticks: 4 });
      names.forEach(function (n, i) {
        LB.label(f.g, n, -10, i * 20 + 10, Math.floor(left / 7));
        f.g.append("rect").attr({ "class": "hold", x: 0, y: i * 20 + 3, height: 14, width: Math.max(0.5, x(sums[n] / samples)) });
        f.g.append("text").attr({ "class": "soft", x: x(sums[n] / samples) + 6, y: i * 20 + 10, dy: ".35em" }).text(LB.digits(sums[n] / samples));
      });
    },
    table: function () { return LB.table({ label: "Waits", columns: [{ label: "doing" }, { label: "sessions", num: true }], rows: names.map(function (n) { return { cells: [n, LB.num(sums[n] / samples)] }; }) }); }
  });
};

LB.runsTable = function (body, cell) {
  var details = LB.el("details", {}, LB.el("summary", {}, "Each run"));
  details.appendChild(LB.table({ label: "Runs", columns: ["run", "state", "success/s", "tries", "longest wait", "faults", "connections lost", "deaths", "recovery p95", "events", "seed"].map(function (l, i) { return { label: l, num: i > 1 }; }),
    rows: cell.runs.map(function (r, i) {
      var m = r.measures || {};
      return { cells: [String(i + 1), r.state, LB.num(r.successes_per_s), LB.num(r.attempts_per_success), LB.num(m.longest_wait_ns, LB.ns), LB.num(r.faults, LB.whole), LB.num(r.connections_lost, LB.whole), LB.num(m.deaths, LB.whole),
                       m.deaths ? LB.num(m.recovery_p95_ns, LB.ns) : "", LB.num(r.events, LB.whole), LB.num(r.seed, String)] };
    }) }));
  body.appendChild(details);
};

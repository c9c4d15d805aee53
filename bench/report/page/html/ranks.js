/* The ranks of a run that several did together (lockbench-mpi): who did what, how far each clock is
 * from rank 0's, and how well that is known. Of several runs of a case the last. */

LB.signedNs = function (ns) { return (ns < 0 ? "\u2212" : "") + LB.ns(Math.abs(ns)); };

LB.ranks = function (body, cell) {
  var run = cell.runs.filter(function (r) { return r.ranks && r.ranks.rows && r.ranks.rows.length; }).pop();
  if (!run) return;
  var rows = run.ranks.rows.map(function (r, i) { return { name: "rank " + i, r: r }; });
  body.appendChild(LB.el("h3", {}, "Ranks"));
  LB.rankTable(body, "Work of each rank", "rank", rows);
  var hosts = LB.byHost(rows);
  if (hosts.length > 1 && hosts.length < rows.length) LB.rankTable(body, "Work of each host", "host", hosts);
  LB.nearMisses(body, run.ranks.possible || {});
  LB.rankFigure(body, rows, { title: "Each rank\u2019s clock, ahead of rank 0\u2019s", note: "At the end of the run.", cls: "dot", key: "clock_offset_ns" });
  LB.rankFigure(body, rows, { title: "How well each clock is known", note: "No time of the rank is off by more than this: every verdict takes it into account.", cls: "a1", key: "clock_uncertainty_ns" });
};

LB.rankTable = function (body, caption, of, rows) {
  var total = d3.sum(rows, function (w) { return w.r.successes; });
  body.appendChild(LB.table({ caption: caption, columns: [{ label: of }, { label: of === "rank" ? "host" : "ranks" }, { label: "workers", num: true }, { label: "successes", num: true }, { label: "share", num: true }, { label: "CPU each", num: true }, { label: "late, p99", num: true }],
    rows: rows.map(function (w) {
      return { cells: [w.name, w.r.lost ? w.r.host + " (lost)" : w.r.host, LB.num(w.r.workers), LB.num(w.r.successes), LB.num(total > 0 ? w.r.successes / total : null, LB.share),
        LB.num(w.r.successes > 0 ? w.r.cpu_ns / w.r.successes : null, LB.ns), LB.num(w.r.late_ns > 0 ? w.r.late_ns : null, LB.ns)] };
    }) }));
};

/* The ranks of a host together. */
LB.byHost = function (rows) {
  var hosts = [];
  rows.forEach(function (w) {
    var host = hosts.filter(function (h) { return h.name === w.r.host; })[0];
    if (!host) hosts.push(host = { name: w.r.host, n: 0, r: { host: "", workers: 0, successes: 0, cpu_ns: 0, late_ns: 0, lost: false } });
    host.r.host = String(++host.n);
    ["workers", "successes", "cpu_ns"].forEach(function (key) { host.r[key] += w.r[key]; });
    host.r.late_ns = Math.max(host.r.late_ns, w.r.late_ns);
    host.r.lost = host.r.lost || w.r.lost;
  });
  return hosts;
};

LB.nearMisses = function (body, possible) {
  Object.keys(possible).forEach(function (name) {
    var near = possible[name];
    body.appendChild(LB.el("p", { "class": "note" }, name + ": " + LB.plural(near.violations, "possible violation") + ", none certain; clocks known to within " + LB.ns(near.settles_ns) + " would settle it."));
  });
};

LB.rankFigure = function (body, rows, what) {
  LB.figure(body, {
    title: what.title, note: what.note,
    draw: function (svg, width) {
      var step = 22, f = LB.frame(svg, width, rows.length * step, [8, 34, 26, 64]);
      function value(w) { return w.r[what.key]; }
      var x = d3.scale.linear().domain([Math.min(0, d3.min(rows, value)), Math.max(1, d3.max(rows, value))]).range([0, f.width]).nice(3);
      LB.axis(f, x, "bottom", { ticks: Math.max(2, Math.floor(f.width / 110)), format: LB.signedNs, grid: true });
      rows.forEach(function (w, i) {
        var y = (i + 0.5) * step, left = Math.min(x(0), x(value(w))), right = Math.max(x(0), x(value(w))), mark;
        LB.label(f.g, w.name, -8, y, 9);
        if (w.r.lost) mark = LB.cross(f.g, x(0), y);
        else if (what.cls === "dot") {
          f.g.append("path").attr({ "class": "line", d: "M" + left + "," + y + "H" + right });
          mark = f.g.append("circle").attr({ "class": "dot", cx: x(value(w)), cy: y, r: 4 });
        } else mark = f.g.append("rect").attr({ "class": what.cls, x: left, y: y - 6, width: Math.max(1, right - left), height: 12 });
        LB.title(mark, w.name + (w.r.lost ? ": lost" : ": " + LB.signedNs(value(w))));
      });
    },
    table: function () {
      return LB.table({ label: what.title, columns: [{ label: "rank" }, { label: "clock", num: true }, { label: "known to within", num: true }, { label: "exchanges", num: true }],
        rows: rows.map(function (w) { return { cells: [w.name, LB.num(w.r.clock_offset_ns, LB.signedNs), LB.num(w.r.clock_uncertainty_ns, LB.ns), LB.num(w.r.clock_exchanges)] }; }) });
    }
  });
};

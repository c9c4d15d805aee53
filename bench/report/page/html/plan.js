/* What lockbench plan stored: its answers in words, the sweep with the law that was fitted, and how
 * the highest rate under a promised latency was searched. */

LB.plans = function () {
  var plans = [];
  LB.results.forEach(function (r) { (r.run.plans || []).forEach(function (p) { plans.push({ plan: p, result: r }); }); });
  if (plans.length === 0) return;
  var section = LB.section("plans", "Capacity", "One point is one run. The curve is the Universal Scalability Law with its 95 % band; it is not drawn where nothing is known.");
  LB.results.forEach(function (r) { LB.choice(section, r); });
  plans.forEach(function (entry) {
    var p = entry.plan;
    section.appendChild(LB.el("h3", {}, p.strategy + " on " + p.engine + ", " + p.scenario + (LB.results.length > 1 ? " \u00b7 " + entry.result.name : "")));
    if (p.interrupted) section.appendChild(LB.el("p", { "class": "alarm" }, "This plan was interrupted."));
    LB.planAnswers(section, p);
    LB.planSweep(section, p);
    if (p.slo) LB.sloTrace(section, p, entry.result);
    LB.planLimits(section, p);
  });
};

/* Which strategy to take up to which demand. */
LB.choice = function (section, result) {
  var rows = result.run.choice || [];
  if (rows.length === 0) return;
  section.appendChild(LB.table({ caption: "Which to take", columns: [{ label: "up to, per second", num: true }, { label: "strategy" }, { label: "engine" }, { label: "workers", num: true }, { label: "how clearly" }],
    rows: rows.map(function (c) { return { cells: [LB.num(c.up_to_per_s), c.strategy, c.engine, LB.num(c.workers), c.clear ? "clearly" : "by little: others are as good within their intervals"] }; }) }));
};

LB.planAnswers = function (section, p) {
  var marks = { answered: ["\u2713 ", "held"], missed: ["\u2717 ", "violated"], refused: ["? ", "other"] };
  var list = LB.el("ul", { "class": "answers" });
  (p.answers || []).forEach(function (a) {
    var m = marks[a.verdict] || ["", "other"];
    list.appendChild(LB.el("li", {}, LB.el("strong", { "class": m[1] }, m[0] + a.question), ": " + a.text, a.doubtful ? LB.el("span", { "class": "known" }, " (doubtful)") : null));
  });
  section.appendChild(list);
  if (p.refusal) section.appendChild(LB.el("p", { "class": "alarm" }, "No answers from the curve: " + p.refusal + "."));
  if (p.fit && p.fit.misfit) section.appendChild(LB.el("p", { "class": "note" }, p.fit.misfit + "."));
  if (p.fit && p.fit.doubts) section.appendChild(LB.el("p", { "class": "note" }, "Doubts about the curve: " + p.fit.doubts + "."));
};

LB.planSweep = function (section, p) {
  var fit = p.fit, curve = (p.band || []).map(function (b) { return [b.workers, b.successes_per_s.value, b.successes_per_s.low, b.successes_per_s.high]; });
  var points = p.points.map(function (q) { return { n: q.workers, x: q.successes_per_s, bad: !q.valid }; });
  if (points.length === 0) return;
  var marks = [["knee", p.knee], ["peak", p.peak]].filter(function (m) { return m[1] && LB.isNumber(m[1].workers.value) && LB.isNumber(m[1].successes_per_s.value); })
    .map(function (m) { return { name: m[0], n: m[1].workers.value, x: m[1].successes_per_s.value }; });
  LB.figure(section, {
    title: "Throughput by workers",
    note: fit ? "Alone " + LB.count(fit.lambda.value) + "/s; serialised " + LB.share(fit.sigma.value) + "; price of agreement " + LB.share(fit.kappa.value) + "; R\u00b2 " + LB.digits(fit.r_squared) + "." : "Without a curve.",
    key: [["dot", "a run"], ["cross", "a run that does not count"]].concat(curve.length ? [["line", "the law"], ["area", "its band"]] : []),
    draw: function (svg, width) { LB.scalingChart(svg, width, points, { curve: curve }, { marks: marks, height: 220, demand: p.demand_per_s }); },
    table: function () {
      return LB.el("div", {}, LB.table({ label: "Runs", columns: [{ label: "workers", num: true }, { label: "success/s", num: true }, { label: "counts" }, { label: "reason" }],
        rows: p.points.map(function (q) { return { cells: [LB.num(q.workers), LB.num(q.successes_per_s), q.valid ? "yes" : "no", q.reason || (q.drifts ? "drifts" : "")] }; }) }),
        LB.table({ label: "The curve", columns: [{ label: "workers", num: true }, { label: "success/s", num: true }, { label: "from", num: true }, { label: "to", num: true }],
          rows: curve.map(function (c) { return { cells: c.map(function (v) { return LB.num(v); }) }; }) }));
    }
  });
};

LB.sloTrace = function (section, p, result) {
  var slo = p.slo, trials = slo.trace || [], found = slo.rate_per_s;
  if (trials.length === 0) return;
  if (slo.state === "not asked") { LB.needTrace(section, p, result); return; }
  LB.figure(section, {
    title: "The search for the highest rate with " + slo.text,
    note: slo.state + (found ? ": " + LB.count(found.value) + "/s" + (LB.isNumber(found.low) && LB.isNumber(found.high) ? ", " + LB.count(found.low) + " to " + LB.count(found.high) : "") : "") + ", with " + LB.plural(slo.workers, "worker") + " and " + slo.arrivals + " arrivals" + (slo.reason ? "; " + slo.reason : "") + ".",
    key: [["dot", "kept"], ["cross", "missed"], ["hollow", "does not count"]].concat(found ? [["second", "found"]] : []),
    draw: function (svg, width) {
      var f = LB.frame(svg, width, 190, [22, 14, 38, 52]), rates = trials.map(function (t) { return t.rate_per_s; });
      var x = d3.scale.linear().domain([0.5, trials.length + 0.5]).range([0, f.width]), y = d3.scale.log().domain([d3.min(rates) * 0.85, d3.max(rates) * 1.15]).range([f.height, 0]);
      LB.axis(f, y, "left", { values: LB.decades(y.domain()[0], y.domain()[1]), grid: true, label: "arrivals per second" });
      LB.axis(f, x, "bottom", { values: d3.range(1, trials.length + 1, Math.max(1, Math.ceil(trials.length * 30 / f.width))), format: String, label: "trial" });
      if (found && found.value >= y.domain()[0]) f.g.append("path").attr({ "class": "second", d: "M0," + y(found.value) + "H" + f.width });
      f.g.append("path").attr({ "class": "context", d: d3.svg.line().x(function (t, i) { return x(i + 1); }).y(function (t) { return y(t.rate_per_s); })(trials) });
      var phase = "";
      trials.forEach(function (t, i) {
        var cx = x(i + 1), cy = y(t.rate_per_s), mark = !t.valid ? f.g.append("circle").attr({ "class": "hollow", cx: cx, cy: cy, r: 4 }) : t.ok ? f.g.append("circle").attr({ "class": "dot", cx: cx, cy: cy, r: 4.5 }) : LB.cross(f.g, cx, cy);
        LB.title(mark, t.phase + " " + LB.count(t.rate_per_s) + "/s: " + LB.ns(t.latency_ns) + (t.reason ? ", " + t.reason : ""));
        if (t.phase === phase) return;
        phase = t.phase;
        f.g.append("path").attr({ "class": "guide", d: "M" + x(i + 0.5) + ",0V" + f.height });
        f.g.append("text").attr({ "class": "soft", x: x(i + 0.5) + 4, y: 10 }).text(phase);
      });
    },
    table: function () {
      return LB.table({ label: "Trials", columns: [{ label: "trial" }, { label: "phase" }, { label: "rate/s", num: true }, { label: slo.text.replace(/<.*/, ""), num: true }, { label: "achieved", num: true }, { label: "errors", num: true }, { label: "result" }, { label: "reason" }],
        rows: trials.map(function (t, i) { return { cells: [String(i + 1), t.phase, LB.num(t.rate_per_s), LB.num(t.latency_ns, LB.ns), LB.num(t.achieved_share, LB.share), LB.num(t.error_share, LB.share), !t.valid ? "does not count" : t.ok ? "\u2713 kept" : "\u2717 missed", t.reason || ""] }; }) });
    }
  });
};

LB.planLimits = function (section, p) {
  var limits = p.limits || [];
  if (limits.length === 0) return;
  section.appendChild(LB.table({ full: true, caption: "What limits it", columns: [{ label: "cause" }, { label: "share", num: true }, { label: "what it means" }],
    rows: limits.map(function (l) { return { cells: [l.cause, LB.num(l.share, LB.share), l.text] }; }) }));
};

/* How many workers keep the SLO at the demand: each trial has another number of them. */
LB.needTrace = function (section, p, result) {
  var slo = p.slo, trials = slo.trace.map(function (t) { return { t: t, n: result.run.cells[t.cell].config.workers }; });
  LB.figure(section, {
    title: "How many workers keep " + slo.text + " at " + LB.count(p.demand_per_s) + "/s",
    note: "Each trial is one run in an open loop, with " + slo.arrivals + " arrivals.",
    key: [["dot", "kept"], ["cross", "missed"], ["hollow", "does not count"]],
    draw: function (svg, width) {
      var f = LB.frame(svg, width, 190, [22, 14, 38, 52]), most = d3.max(trials, function (e) { return e.n; });
      var x = d3.scale.linear().domain([0.5, trials.length + 0.5]).range([0, f.width]), y = d3.scale.linear().domain([0, most + 1]).range([f.height, 0]);
      LB.axis(f, y, "left", { values: d3.range(0, most + 1, Math.ceil((most + 1) / 8)), format: String, grid: true, label: "workers" });
      LB.axis(f, x, "bottom", { values: d3.range(1, trials.length + 1, Math.max(1, Math.ceil(trials.length * 30 / f.width))), format: String, label: "trial" });
      trials.forEach(function (e, i) {
        var cx = x(i + 1), cy = y(e.n), mark = !e.t.valid ? f.g.append("circle").attr({ "class": "hollow", cx: cx, cy: cy, r: 4 }) : e.t.ok ? f.g.append("circle").attr({ "class": "dot", cx: cx, cy: cy, r: 4.5 }) : LB.cross(f.g, cx, cy);
        LB.title(mark, e.t.phase + ", " + LB.plural(e.n, "worker") + ": " + (LB.isNumber(e.t.latency_ns) ? LB.ns(e.t.latency_ns) : "n/a") + (e.t.reason ? ", " + e.t.reason : ""));
      });
    },
    table: function () {
      return LB.table({ label: "Trials", columns: [{ label: "trial" }, { label: "phase" }, { label: "workers", num: true }, { label: slo.text.replace(/<.*/, ""), num: true }, { label: "served", num: true }, { label: "result" }, { label: "reason" }],
        rows: trials.map(function (e, i) { return { cells: [String(i + 1), e.t.phase, LB.num(e.n), LB.num(e.t.latency_ns, LB.ns), LB.num(e.t.achieved_share, LB.share), !e.t.valid ? "does not count" : e.t.ok ? "\u2713 kept" : "\u2717 missed", e.t.reason || ""] }; }) });
    }
  });
};

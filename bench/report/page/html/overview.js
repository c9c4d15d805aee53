/* All cells side by side: verdicts, numbers, comparison, answers, scaling, server-side costs. */

LB.marks = { held: "\u2713", violated: "\u2717", "not tested": "?", "not claimed": "\u2014" };

/* --- verdicts --- */

LB.verdictOf = function (cell) {
  if (cell.verdict === "violated") {
    var guarantees = cell.guarantees || {};
    var known = Object.keys(guarantees).every(function (g) {
      return guarantees[g].verdict !== "violated" || guarantees[g].expectation === "caught";
    });
    return { text: "\u2717 violated" + (known ? ", as known" : ""), cls: known ? "known" : "violated", value: "violated" };
  }
  if (cell.verdict === "held") return { text: "\u2713 held", cls: "held", value: "held" };
  return { text: "? " + cell.verdict, cls: "other", value: cell.verdict };
};

LB.finding = function (cell, name, f, witness, number) {
  var known = f.expectation === "caught";
  var box = LB.el("div", { "class": "finding" + (known ? " expected" : "") },
                  LB.el("p", {}, LB.el("strong", {}, "\u2717 " + name + (known ? ", known to be broken" : "")),
                        number === 0 ? ", " + LB.plural(f.violations, "time") + " in " + LB.whole(f.tested) + ": " : ": ",
                        LB.words(witness.text)));
  if (witness.operations && witness.operations.length) {
    var holder = LB.el("div");
    box.appendChild(holder);
    LB.pending.push(function () { LB.witnessChart(holder, witness); });
  }
  return box;
};

LB.findings = function (cell, name) {
  var f = cell.guarantees[name], list = [];
  (f.witnesses || []).forEach(function (w, i) { list.push(LB.finding(cell, name, f, w, i)); });
  if (list.length === 0) list.push(LB.el("p", {}, LB.plural(f.violations, "violation") + ", without a witness"));
  if (cell.reproduce) list.push(LB.el("p", { "class": "note" }, "Again: ", LB.el("code", { "class": "command" }, cell.reproduce)));
  return list;
};
LB.pending = [];
LB.runPending = function () { LB.pending.splice(0).forEach(function (f) { f(); }); };

/* The two or more holds of a witness, one line per worker: asked for, held, given back. */
LB.witnessChart = function (parent, witness) {
  var ops = witness.operations, workers = [];
  ops.forEach(function (o) { if (workers.indexOf(o.worker) < 0) workers.push(o.worker); });
  workers.sort(function (a, b) { return a - b; });
  function end(o) { return o.end_ns === null ? null : o.end_ns; }
  var first = d3.min(ops, function (o) { return o.invoke_ns; });
  var last = d3.max(ops, function (o) { return end(o) === null ? o.invoke_ns : o.end_ns; });
  if (last === first) last = first + 1;
  LB.figure(parent, {
    title: "The operations of this witness",
    key: [["wait", "asked until answered"], ["hold", "held in between"]],
    draw: function (svg, width) {
      var f = LB.frame(svg, width, workers.length * 30, [6, 16, 38, 82]);
      var x = d3.scale.linear().domain([first, last]).range([0, f.width]);
      LB.timeAxis(f, x, 130);
      workers.forEach(function (worker, i) {
        var y = i * 30 + 15, since = null;
        LB.label(f.g, "worker " + worker, -8, y, 12);
        ops.filter(function (o) { return o.worker === worker; }).forEach(function (o) {
          var to = end(o) === null ? last : o.end_ns;
          if (/^(acquire|claim)$/.test(o.op) && o.end === "ok") since = o;
          else if (since && /^(release|complete|error|free)$/.test(o.op)) {
            f.g.append("rect").attr({ "class": "hold", x: x(since.end_ns), y: y - 7, height: 14, width: Math.max(1, x(o.invoke_ns) - x(since.end_ns)) });
            since = null;
          }
          LB.title(f.g.append("rect").attr({ "class": "wait", x: x(o.invoke_ns), y: y - 9, height: 18, width: Math.max(1, x(to) - x(o.invoke_ns)) }),
                   o.op + " " + (o.end || "not answered") + ", " + LB.ns(o.invoke_ns) + " to " + (end(o) === null ? "the end" : LB.ns(o.end_ns)));
        });
        if (since) f.g.append("rect").attr({ "class": "hold", x: x(since.end_ns), y: y - 7, height: 14, width: Math.max(1, f.width - x(since.end_ns)) });
      });
    },
    table: function () {
      return LB.table({ label: "operations of the witness",
        columns: ["operation", "worker", "process", "object", "value", "asked", "answered", "end", "answer"].map(function (l, i) { return { label: l, num: i > 0 && i < 7 }; }),
        rows: ops.map(function (o) {
          return { cells: [o.op, LB.num(o.worker), LB.num(o.process), LB.num(o.object), o.value === null ? "" : LB.num(o.value, String),
                           LB.num(o.invoke_ns, LB.ns), o.end_ns === null ? "never" : LB.num(o.end_ns, LB.ns), o.end || "", o.answer || ""] };
        }) });
    }
  });
};

LB.toggleWitness = function (button, tr, cell, name) {
  var open = button.getAttribute("aria-expanded") === "true", next = tr.nextElementSibling;
  if (next && next.classList.contains("witness")) next.remove();
  tr.querySelectorAll("[aria-expanded=true]").forEach(function (b) { b.setAttribute("aria-expanded", "false"); });
  if (open) return;
  button.setAttribute("aria-expanded", "true");
  tr.parentNode.insertBefore(LB.el("tr", { "class": "witness" },
    LB.el("td", { colspan: tr.children.length }, LB.findings(cell, name))), tr.nextSibling);
  LB.runPending();
};

LB.guaranteeCell = function (cell, name) {
  var f = (cell.guarantees || {})[name];
  if (!f) return { text: "", value: "" };
  if (f.verdict !== "violated") {
    var c = { text: (LB.marks[f.verdict] || "") + (f.verdict === "not claimed" ? "" : " " + f.verdict), value: f.verdict,
              cls: f.verdict === "held" ? "held" : "other" };
    if (f.verdict === "not claimed") c.node = LB.el("span", { title: "not claimed", "aria-label": "not claimed" }, LB.marks[f.verdict]);
    if (f.reason) c.node = LB.el("span", { title: f.reason }, c.text);
    return c;
  }
  var known = f.expectation === "caught";
  var button = LB.el("button", { type: "button", "class": known ? "known" : "violated", "aria-expanded": "false",
                                 title: "Shows the operations that prove it" },
                     "\u2717 violated" + (known ? ", as known" : ""));
  button.addEventListener("click", function () { LB.toggleWitness(button, button.closest("tr"), cell, name); });
  return { node: button, value: "violated" };
};

LB.jump = function (cell) {
  if (!cell.runs || cell.runs.length === 0) return cell.strategy;
  return LB.el("button", { type: "button", "class": "link", title: "Shows it in detail", on: ["click", function () { LB.show(cell, true); }] }, cell.strategy);
};

LB.nameCell = function (cell) {
  return { node: LB.jump(cell), text: cell.strategy, value: cell.strategy, extra: cell.control ? LB.el("span", { "class": "tag" }, "control") : null };
};

LB.verdictTable = function (section, group, heading) {
  var names = LB.guarantees.filter(function (name) {
    return group.cells.some(function (c) { var f = (c.guarantees || {})[name]; return f && f.verdict !== "not claimed"; });
  });
  var run = group.cells.filter(function (c) { return c.guarantees; });
  var columns = [{ label: "strategy", sort: true, key: "strategy" }, { label: "engine", sort: true, key: "engine" }];
  if (group.mixed) columns.push({ label: "scenario", sort: true, key: "scenario" });
  columns.push({ label: "overall", sort: true, key: "verdict" });
  names.forEach(function (name) { columns.push({ label: name, sort: true, key: name }); });
  if (heading) section.appendChild(heading);
  if (run.length)
    section.appendChild(LB.table({
      full: true, label: "Verdicts, " + group.title, columns: columns,
      rows: run.map(function (cell) {
        var cells = [LB.nameCell(cell), cell.engine].concat(group.mixed ? [cell.scenario] : [], [LB.verdictOf(cell)],
          names.map(function (name) { return LB.guaranteeCell(cell, name); }));
        return { cells: cells, attributes: { "data-cell": cell.id, "data-text": (cell.strategy + " " + cell.engine + " " + cell.scenario).toLowerCase(), "data-verdict": cell.verdict } };
      })
    }));
  LB.proofs(section, run);
  var rest = group.cells.filter(function (c) { return !c.guarantees; });
  if (rest.length)
    section.appendChild(LB.el("details", {}, LB.el("summary", {}, LB.plural(rest.length, "pair") + " of strategy and engine without a run"),
      LB.table({ label: "without a run", columns: [{ label: "strategy" }, { label: "engine" }, { label: "state" }, { label: "reason" }],
                 rows: rest.map(function (c) { return { cells: [c.strategy, c.engine, c.verdict, c.reason || ""] }; }) })));
};

/* What a scenario proves beside the guarantees. */
LB.proofs = function (section, cells) {
  var rows = [];
  cells.forEach(function (cell) {
    cell.runs.forEach(function (run, i) {
      if (run.proof) rows.push({ cells: [LB.nameCell(cell), cell.engine, LB.num(i + 1), run.proof.name,
        { text: (LB.marks[run.proof.verdict] || "") + " " + run.proof.verdict, cls: run.proof.verdict === "violated" ? "violated" : run.proof.verdict === "held" ? "held" : "other" }, run.proof.text] });
    });
  });
  if (rows.length)
    section.appendChild(LB.el("div", {}, LB.el("h3", {}, "What the scenario proves"),
      LB.table({ full: true, label: "proofs", columns: [{ label: "strategy" }, { label: "engine" }, { label: "run", num: true }, { label: "proof" }, { label: "verdict" }, { label: "what was seen" }], rows: rows })));
};

LB.summarise = function () {
  var counts = {}, broken = 0, text = [];
  LB.cells.forEach(function (c) {
    counts[c.verdict] = (counts[c.verdict] || 0) + 1;
    if (LB.verdictOf(c).cls === "violated") broken++;
  });
  var run = LB.cells.filter(function (c) { return c.guarantees; }).length;
  /* The trials of a plan are made to find where a load is too much: a late one says nothing of the promises. */
  var isPlan = LB.results.every(function (r) { return (r.run.plans || []).length > 0; });
  if (isPlan && !counts.violated && !counts.error) return "No guarantee was violated in the " + LB.plural(run, "case") + " that ran.";
  text.push("Of " + LB.plural(run, "case") + " that ran, " + (counts.held || 0) + " kept all that they claim");
  if (counts.violated) text.push(counts.violated + " violated a guarantee" + (broken === 0 ? ", as is known of " + (counts.violated === 1 ? "it" : "them") : broken < counts.violated ? "; " + broken + " of these " + (broken === 1 ? "was" : "were") + " unexpected" : ""));
  if (counts["not tested"]) text.push(counts["not tested"] + " could not be judged");
  if (counts.inconclusive) text.push(counts.inconclusive + " " + (counts.inconclusive === 1 ? "is" : "are") + " inconclusive");
  if (counts.error) text.push(counts.error + " failed to run");
  return text.join("; ") + ".";
};

LB.filterBar = function (section) {
  var text = LB.el("input", { type: "search", id: "find", size: "18" }), which = LB.el("select", { id: "which" });
  [["", "all"], ["violated", "violated"], ["held", "held"], ["other", "neither"]].forEach(function (o) { which.appendChild(LB.el("option", { value: o[0] }, o[1])); });
  function apply() {
    section.querySelectorAll("tr.witness").forEach(function (tr) { tr.remove(); });
    section.querySelectorAll("[aria-expanded=true]").forEach(function (b) { b.setAttribute("aria-expanded", "false"); });
    section.querySelectorAll("tr[data-cell]").forEach(function (tr) {
      var v = tr.getAttribute("data-verdict"), kind = v === "held" || v === "violated" ? v : "other";
      tr.hidden = (which.value !== "" && which.value !== kind) || tr.getAttribute("data-text").indexOf(text.value.toLowerCase()) < 0;
    });
  }
  text.addEventListener("input", apply);
  which.addEventListener("change", apply);
  section.appendChild(LB.el("div", { "class": "filter" }, LB.el("label", { "for": "find" }, "Strategy, engine or scenario "), text, LB.el("label", { "for": "which" }, "Verdict "), which));
};

LB.verdicts = function () {
  var section = LB.section("verdicts", "Verdicts", "A guarantee is \u2713 held if some order of the recorded operations keeps it, and \u2717 violated if none does; press a violation to see the operations that prove it. \u2014 is not claimed, ? could not be judged.");
  if (LB.cells.length > 12) LB.filterBar(section);
  LB.groups.forEach(function (group) {
    LB.verdictTable(section, group, LB.el("div", {}, LB.el("h3", {}, group.title), group.question ? LB.el("p", { "class": "note" }, group.question) : null));
  });
};

/* --- numbers --- */

LB.rateCell = function (s) {
  var i = s.successes_per_s_interval;
  var extra = i && i.low !== null && i.high !== null ? LB.el("span", { "class": "interval" }, " " + LB.count(i.low) + "\u2013" + LB.count(i.high)) : null;
  return LB.num(s.successes_per_s, LB.count, extra);
};

LB.numbers = function () {
  var section = LB.section("numbers", "Numbers", "Medians over the runs of each case. Latency is that of an acquire or claim, from the first try to the grant, and from the intended start where arrivals are scheduled. Tries is attempts per success, fair is Jain\u2019s index over the workers. n/a: too few samples for that percentile.");
  LB.groups.forEach(function (group) {
    var cells = group.cells.filter(function (c) { return c.summary; });
    if (cells.length === 0) return;
    section.appendChild(LB.el("h3", {}, group.title));
    LB.rateChart(section, group, cells);
    var priced = cells.some(function (c) { return "price_per_million" in c.summary; });
    var columns = [{ label: "strategy", sort: true, key: "strategy" }, { label: "engine", sort: true, key: "engine" }];
    if (group.mixed) columns.push({ label: "scenario", sort: true, key: "scenario" });
    [["verdict", "verdict"], ["success/s", "successes_per_s", 1], ["tries", "attempts_per_success", 1], ["p50", "p50_ns", 1], ["p90", "p90_ns", 1], ["p95", "p95_ns", 1], ["p99", "p99_ns", 1],
     ["p99.9", "p999_ns", 1], ["max", "max_ns", 1], ["fair", "jain", 1], ["cpu", "cpu_us_per_success", 1]].concat(priced ? [["a million", "price_per_million", 1]] : []).forEach(function (c) { columns.push({ label: c[0], key: c[1], num: !!c[2], sort: true }); });
    section.appendChild(LB.table({ full: true, label: "Numbers, " + group.title, columns: columns, rows: cells.map(function (cell) {
      var s = cell.summary;
      return { attributes: { "data-cell": cell.id }, cells: [LB.nameCell(cell), cell.engine].concat(group.mixed ? [cell.scenario] : [], [LB.verdictOf(cell), LB.rateCell(s), LB.num(s.attempts_per_success, LB.count),
        LB.num(s.p50_ns, LB.ns), LB.num(s.p90_ns, LB.ns), LB.num(s.p95_ns, LB.ns), LB.num(s.p99_ns, LB.ns), LB.num(s.p999_ns, LB.ns), LB.num(s.max_ns, LB.ns),
        LB.num(s.jain, function (v) { return LB.isNumber(v) ? v.toFixed(2) : "n/a"; }), LB.num(s.cpu_us_per_success, function (v) { return LB.isNumber(v) ? LB.ns(v * 1000) : "n/a"; })],
        priced ? [LB.num(s.price_per_million, function (v) { return LB.isNumber(v) ? String(Number(v.toPrecision(3))) : "n/a"; })] : []) };
    }) }));
  });
};

/* ", with its interval (covers 94 %)": as much as so many runs can say. */
LB.coverage = function (cells) {
  var c = cells.map(function (cell) { return (cell.summary.successes_per_s_interval || {}).coverage; }).filter(LB.isNumber);
  if (c.length === 0) return "";
  var low = LB.share(d3.min(c)), high = LB.share(d3.max(c));
  return ", with its interval, which covers the true median with " + (low === high ? low : low + " to " + high);
};

LB.rateChart = function (section, group, cells) {
  var sorted = cells.slice().sort(function (a, b) { return b.summary.successes_per_s - a.summary.successes_per_s; });
  LB.figure(section, {
    title: "Successes per second", note: "Median, on a logarithmic axis" + LB.coverage(cells) + ".",
    key: [["dot", "held"], ["cross", "violated"], ["hollow", "not judged"]],
    draw: function (svg, width) {
      var left = Math.min(250, Math.max(130, width * 0.3)), most = Math.floor(left / 7.2);
      var f = LB.frame(svg, width, sorted.length * 19, [4, 52, 40, left]);
      var values = [];
      sorted.forEach(function (c) {
        var i = c.summary.successes_per_s_interval;
        values.push(c.summary.successes_per_s);
        if (i) values.push(i.low, i.high);
      });
      values = values.filter(function (v) { return v > 0; });
      var low = d3.min(values) || 1, high = d3.max(values) || 10;
      var x = d3.scale.log().domain([Math.pow(10, Math.floor(Math.log10(low * 0.95))), high * 1.15]).range([0, f.width]);
      LB.axis(f, x, "bottom", { values: LB.decades(x.domain()[0], x.domain()[1]), grid: true, label: "successes per second" });
      sorted.forEach(function (c, i) {
        var y = i * 19 + 10, v = c.summary.successes_per_s, ci = c.summary.successes_per_s_interval;
        LB.label(f.g, LB.shortName(c, cells), -10, y, most);
        if (!(v > 0)) { LB.label(f.g, "none", 4, y, 10, "start").attr("class", "soft"); return; }
        if (ci && ci.low > 0 && ci.high !== null) f.g.append("path").attr("class", "span").attr("d", "M" + x(ci.low) + "," + y + "H" + x(ci.high));
        if (c.verdict === "violated") LB.cross(f.g, x(v), y);
        else f.g.append("circle").attr({ "class": c.verdict === "held" ? "dot" : "hollow", cx: x(v), cy: y, r: 4 });
        f.g.append("text").attr({ "class": "soft", x: Math.max(x(v), ci && ci.high > 0 ? x(ci.high) : 0) + 8, y: y, dy: ".35em" }).text(LB.count(v));
      });
    }
  });
};

/* --- comparison --- */

/* The cells of a plan are its trials, and are no comparison. */
LB.rankingsOf = function (run) { return (run.plans || []).length > 0 ? [] : run.rankings || []; };

LB.comparison = function () {
  var all = [];
  LB.results.forEach(function (r) {
    LB.rankingsOf(r.run).forEach(function (t) {
      var rows = (r.run.comparisons || []).filter(function (c) { return c.measured === t.measured && c.engine === t.engine && c.scenario === t.scenario; });
      all.push({ title: (LB.results.length > 1 ? r.name + ": " : "") + t.scenario + " on " + t.engine, t: t, rows: rows });
    });
  });
  if (all.length === 0) return;
  var section = LB.section("comparison", "Which is the fastest?", "Ratios are of runs in the same round, with intervals that hold together at 95 % for all pairs of a table; who shares a letter is not told apart; equivalent: within 5 %.");
  all.forEach(function (g) {
    var names = { rate: "success/s", p99: "p99 of the wait", cpu: "CPU per success" };
    var rows = g.rows.slice().sort(function (a, b) { return (g.t.measured === "rate" ? 1 : -1) * ((b.ratio.value || 0) - (a.ratio.value || 0)); });
    var letters = {};
    g.t.ranks.forEach(function (r) { letters[r.strategy] = r.letters; });
    /* The lines of the others stand below that of the rate. */
    (g.t.measured === "rate" ? [g.title + ". " + g.t.answer, g.t.choice, g.t.power, g.t.p99, g.t.cpu] : []).forEach(function (text, i) {
      if (text) section.appendChild(LB.el("p", i === 0 ? {} : { "class": "note" }, text));
    });
    LB.figure(section, {
      title: g.title + ": " + names[g.t.measured] + " against " + g.t.reference + (letters[g.t.reference] ? " (" + letters[g.t.reference] + ")" : ""),
      key: [["dot", "decided"], ["hollow", "equivalent or not told apart"]],
      draw: function (svg, width) {
        var left = Math.min(190, width * 0.36), f = LB.frame(svg, width, rows.length * 20, [4, width > 560 ? 150 : 12, 40, left]);
        var high = d3.max(rows, function (c) { return Math.max(1, c.ratio.high || 0, c.ratio.value || 0); });
        var x = d3.scale.linear().domain([0, Math.min(high, 20) * 1.03]).range([0, f.width]).clamp(true);
        LB.axis(f, x, "bottom", { ticks: Math.max(3, Math.floor(f.width / 90)), grid: true, format: function (v) { return v.toFixed(1) + "\u00d7"; }, label: "of " + g.t.reference });
        f.g.append("path").attr("class", "guide").attr("d", "M" + x(1) + ",0V" + f.height);
        rows.forEach(function (c, i) {
          var y = i * 20 + 10, clear = c.verdict === "slower" || c.verdict === "faster";
          LB.label(f.g, c.strategy + (c.letters ? " (" + c.letters + ")" : ""), -10, y, Math.floor(left / 7.2));
          if (c.ratio.low !== null && c.ratio.high !== null) f.g.append("path").attr("class", "span").attr("d", "M" + x(c.ratio.low) + "," + y + "H" + x(c.ratio.high));
          if (c.ratio.value !== null) f.g.append("circle").attr({ "class": clear ? "dot" : "hollow", cx: x(c.ratio.value), cy: y, r: 4 });
          if (width > 560) f.g.append("text").attr({ "class": "soft", x: f.width + 12, y: y, dy: ".35em" }).text((c.ratio.value === null ? "n/a" : (c.text || LB.digits(c.ratio.value)).split(" ")[0] + "\u00d7") + " " + c.is);
        });
      },
      table: function () {
        return LB.table({ label: "Comparison, " + g.title, columns: [{ label: "strategy" }, { label: "ratio", num: true }, { label: "rounds", num: true }, { label: "group" }, { label: "is" }],
          rows: rows.map(function (c) {
            return { cells: [c.strategy, LB.num(c.ratio.value, function () { return c.text || "n/a"; }), LB.num(c.rounds, String), c.letters, c.is] };
          }) });
      }
    });
  });
};

/* --- answers --- */

LB.answerKinds = [["ok", "a0", "granted"], ["busy", "a1", "busy"], ["empty", "a4", "empty"], ["conflict", "a2", "conflict or deadlock", "deadlock"],
                  ["duplicate", "a5", "duplicate"], ["timeout", "a3", "timeout, lost, refused or other", "lost", "refused", "other"]];

/* Shares of the attempts of acquire or claim, over all runs. */
LB.answersOf = function (cell) {
  var total = 0, sums = LB.answerKinds.map(function () { return 0; });
  cell.runs.forEach(function (run) {
    var a = ((run.operations || {}).acquire || {}).answers || {};
    LB.answerKinds.forEach(function (kind, k) {
      [kind[0]].concat(kind.slice(3)).forEach(function (name) { sums[k] += a[name] || 0; total += a[name] || 0; });
    });
  });
  return { sums: sums, total: total };
};

LB.answers = function () {
  if (!LB.cells.some(function (c) { return c.runs && c.runs.length && LB.answersOf(c).total > 0; })) return;
  var section = LB.section("answers", "Retries and refusals", "What attempts to acquire or claim were answered. The more of a bar is not granted, the more work goes into asking again.");
  LB.groups.forEach(function (group) {
    var cells = group.cells.filter(function (c) { return c.runs && c.runs.length && LB.answersOf(c).total > 0; });
    if (cells.length === 0) return;
    var used = LB.answerKinds.filter(function (kind, k) { return cells.some(function (c) { return LB.answersOf(c).sums[k] > 0; }); });
    LB.figure(section, {
      title: group.title, key: used.map(function (k) { return [k[1], k[2]]; }),
      draw: function (svg, width) {
        var left = Math.min(250, Math.max(130, width * 0.3)), f = LB.frame(svg, width, cells.length * 20, [4, 60, 26, left]);
        var x = d3.scale.linear().domain([0, 1]).range([0, f.width]);
        LB.axis(f, x, "bottom", { values: [0, 0.25, 0.5, 0.75, 1], format: function (v) { return Math.round(v * 100) + " %"; } });
        cells.forEach(function (c, i) {
          var y = i * 20 + 3, at = 0, a = LB.answersOf(c);
          LB.label(f.g, LB.shortName(c, cells), -10, y + 7, Math.floor(left / 7.2));
          LB.answerKinds.forEach(function (kind, k) {
            if (a.sums[k] === 0) return;
            var w = a.sums[k] / a.total, box = { x: x(at), y: y, width: Math.max(0.5, x(w)), height: 14 };
            LB.title(f.g.append("rect").attr("class", kind[1]).attr(box), kind[2] + ": " + LB.whole(a.sums[k]));
            if (LB.hatches[kind[1]]) f.g.append("rect").attr(box).attr({ fill: "url(#" + LB.hatches[kind[1]] + ")", "pointer-events": "none" });
            at += w;
          });
          f.g.append("text").attr({ "class": "soft", x: f.width + 8, y: y + 7, dy: ".35em" }).text(Math.round(100 * a.sums[0] / a.total) + " %");
        });
      },
      table: function () {
        return LB.table({ label: "Answers, " + group.title, columns: [{ label: "strategy" }, { label: "engine" }, { label: "scenario" }, { label: "attempts", num: true }].concat(LB.answerKinds.map(function (k) { return { label: k[2], num: true }; })),
          rows: cells.map(function (c) { var a = LB.answersOf(c); return { cells: [c.strategy, c.engine, c.scenario, LB.num(a.total, LB.whole)].concat(a.sums.map(function (n) { return LB.num(n, LB.whole); })) }; }) });
      }
    });
  });
};

/* --- scaling --- */

LB.share = function (v) { return LB.isNumber(v) ? LB.digits(100 * v) + " %" : "n/a"; };

LB.scaling = function () {
  var sweeps = [];
  LB.results.forEach(function (r) { if (!r.run.plans) (r.run.sweeps || []).forEach(function (s) { sweeps.push({ s: s, cells: s.cells.map(function (i) { return r.run.cells[i]; }) }); }); });
  sweeps = sweeps.filter(function (w) { return w.cells.some(function (c) { return c.runs.length; }); });
  if (sweeps.length === 0) return;
  var section = LB.section("scaling", "Scaling with workers", "One point is one run. The curve is the Universal Scalability Law, fitted to sweeps of at least six numbers of workers, with its 95 % band over what was measured.");
  var grid = LB.el("div", { "class": "grid" });
  section.appendChild(grid);
  sweeps.forEach(function (w) {
    var fit = w.s.fit, points = [];
    w.cells.forEach(function (c) { c.runs.forEach(function (run) { if (run.state === "complete") points.push({ n: c.config.workers, x: run.successes_per_s, bad: c.verdict === "violated" }); }); });
    if (points.length === 0) return;
    var head = w.cells[0], note = fit ? "Alone " + LB.count(fit.lambda.value) + "/s; serialised " + LB.share(fit.sigma.value) + "; price of agreement " + LB.share(fit.kappa.value) + (fit.peak_workers && fit.peak_workers.value ? "; peak " + LB.count(fit.peak_per_s.value) + "/s at " + LB.digits(fit.peak_workers.value) + " workers" : "")
                   + (fit.worst_residual > 0.1 ? "; the law is off by up to " + LB.share(fit.worst_residual) : "")
                 : "No curve: " + (w.s.no_fit || "") + ".";
    LB.figure(grid, {
      title: head.strategy + " on " + head.engine + ", " + LB.baseName(head, "workers"), note: note,
      draw: function (svg, width) { LB.scalingChart(svg, width, points, fit); },
      table: function () {
        return LB.table({ label: "Rates by workers", columns: [{ label: "workers", num: true }, { label: "median success/s", num: true }, { label: "runs", num: true }],
          rows: w.cells.map(function (c) { return { cells: [LB.num(c.config.workers), LB.num(c.summary ? c.summary.successes_per_s : null), LB.num(c.runs.length)] }; }) });
      }
    });
  });
};

/* options: {height, marks: [{name, n, x}], demand} */
LB.scalingChart = function (svg, width, points, fit, options) {
  var o = options || {}, f = LB.frame(svg, width, o.height || 170, [20, 14, 38, 46]), curve = fit ? fit.curve : [];
  var measured = d3.max(points, function (p) { return p.n; }), reach = Math.max(measured, d3.max(curve, function (c) { return c[0]; }) || 0);
  var x = d3.scale.linear().domain([0, reach * 1.03]).range([0, f.width]);
  var top = Math.max(d3.max(points, function (p) { return p.x; }), d3.max(curve, function (c) { return c[3] || c[1]; }) || 0);
  var y = d3.scale.linear().domain([0, top * 1.05]).range([f.height, 0]);
  LB.axis(f, x, "bottom", { ticks: 6, label: "workers" });
  LB.axis(f, y, "left", { ticks: 4, grid: true, label: "success/s" });
  if (reach > measured * 1.05) {
    f.g.append("path").attr({ "class": "guide", d: "M" + x(measured) + ",0V" + f.height });
    LB.label(f.g, f.width - x(measured) > 150 ? "measured no further" : "", x(measured) + 5, 8, 30, "start").attr("class", "soft");
  }
  if (curve.length) {
    f.g.append("path").attr("class", "area").attr("d", d3.svg.area().x(function (c) { return x(c[0]); }).y0(function (c) { return y(c[2]); }).y1(function (c) { return y(c[3]); })(curve.filter(function (c) { return c[2] !== null && c[3] !== null; })));
    f.g.append("path").attr("class", "line").attr("d", d3.svg.line().x(function (c) { return x(c[0]); }).y(function (c) { return y(c[1]); })(curve));
  }
  if (o.demand && o.demand <= y.domain()[1]) {
    f.g.append("path").attr({ "class": "second", d: "M0," + y(o.demand) + "H" + f.width });
    f.g.append("text").attr({ "class": "soft", x: f.width, y: y(o.demand) - 4, "text-anchor": "end" }).text("demand " + LB.count(o.demand) + "/s");
  }
  (o.marks || []).filter(function (m) { return m.n <= x.domain()[1] && m.x <= y.domain()[1]; }).forEach(function (m, i) {
    f.g.append("path").attr({ "class": "guide", d: "M" + x(m.n) + "," + y(m.x) + "V" + f.height });
    f.g.append("text").attr({ "class": "soft", x: x(m.n) + 4, y: f.height - 6 - 14 * i }).text(m.name);
  });
  points.forEach(function (p) {
    if (p.bad) LB.cross(f.g, x(p.n), y(p.x));
    else LB.title(f.g.append("circle").attr({ "class": "dot", cx: x(p.n), cy: y(p.x), r: 3 }), p.n + " workers: " + LB.count(p.x) + "/s");
  });
};

/* --- server-side costs --- */

LB.costNames = { statements: ["statements", LB.count], wal_bytes: ["WAL", LB.bytes], dead_rows: ["dead rows", LB.count], rows_read: ["rows read", LB.count],
                 growth_bytes: ["growth", LB.bytes], lock_retries: ["lock retries", LB.count], lock_waits: ["lock waits", LB.count], client_cpu_ns: ["client CPU", LB.ns], client_context_switches: ["switches", LB.count] };

LB.costs = function () {
  var cells = LB.cells.filter(function (c) { return c.costs_per_success; });
  if (cells.length === 0) return;
  var names = Object.keys(LB.costNames).filter(function (n) { return cells.some(function (c) { return LB.isNumber(c.costs_per_success[n]); }); });
  var most = {};
  names.forEach(function (n) { most[n] = d3.max(cells, function (c) { return c.costs_per_success[n] || 0; }); });
  var section = LB.section("costs", "What a success costs", "Per success, medians over the runs; client CPU and context switches are lockbench\u2019s own. A bar is the share of the column\u2019s largest value. n/a: this engine does not tell.");
  LB.groups.forEach(function (group) {
    var here = group.cells.filter(function (c) { return c.costs_per_success; });
    if (here.length === 0) return;
    section.appendChild(LB.el("h3", {}, group.title));
    section.appendChild(LB.table({ full: true, label: "Costs, " + group.title,
      columns: [{ label: "strategy", sort: true, key: "strategy" }, { label: "engine", sort: true, key: "engine" }].concat(group.mixed ? [{ label: "scenario", sort: true }] : [], names.map(function (n) { return { label: LB.costNames[n][0], num: true, sort: true, key: n }; })),
      rows: here.map(function (c) {
        return { attributes: { "data-cell": c.id }, cells: [LB.nameCell(c), c.engine].concat(group.mixed ? [c.scenario] : [], names.map(function (n) {
          var v = c.costs_per_success[n], cell = LB.num(v, LB.costNames[n][1]);
          if (LB.isNumber(v) && most[n] > 0) cell.node = LB.el("span", {}, LB.el("span", { "class": "bar", style: "width:" + (3 * v / most[n]).toFixed(2) + "em", "aria-hidden": "true" }), cell.text);
          return cell;
        })) };
      }) }));
  });
};

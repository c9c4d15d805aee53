/* Puts the page together from the data. */

LB.longName = function (c) { return c.strategy + " \u00b7 " + c.engine + " \u00b7 " + c.scenario + (LB.results.length > 1 ? " \u00b7 " + c.result.name : ""); };

/* A scenario's name without what a sweep over one key put behind it. */
LB.baseName = function (c, key) {
  var parts = c.scenario.match(/^(.*)\[(.*)\]$/);
  if (!parts) return c.scenario;
  var rest = parts[2].split(" ").filter(function (setting) { return setting.indexOf(key + "=") !== 0; });
  return parts[1] + (rest.length ? "[" + rest.join(" ") + "]" : "");
};

LB.collect = function () {
  LB.cells = [];
  LB.guarantees = [];
  LB.groups = [];
  LB.results.forEach(function (result) {
    var byScenario = {}, names = [];
    result.run.cells.forEach(function (cell) {
      cell.id = String(LB.cells.length);
      cell.runs = cell.runs.filter(function (run) { return run && typeof run === "object"; });
      cell.config = cell.config || {}; /* another version may have stored less */
      cell.options = cell.options || {};
      cell.result = result;
      LB.cells.push(cell);
      Object.keys(cell.guarantees || {}).forEach(function (g) { if (LB.guarantees.indexOf(g) < 0) LB.guarantees.push(g); });
      if (!byScenario[cell.scenario]) { byScenario[cell.scenario] = []; names.push(cell.scenario); }
      byScenario[cell.scenario].push(cell);
    });
    var before = LB.results.length > 1 ? result.name + ": " : "";
    var sorted = result.run.cells.slice().sort(function (a, b) { return a.strategy.localeCompare(b.strategy) || a.engine.localeCompare(b.engine) || a.scenario.localeCompare(b.scenario, "en", { numeric: true }); });
    if (names.length > 4) LB.groups.push({ title: before + LB.plural(names.length, "scenario"), cells: sorted, mixed: true, question: "" });
    else names.forEach(function (n) { LB.groups.push({ title: before + LB.titleOf(n), cells: byScenario[n], mixed: false, question: byScenario[n][0].question }); });
  });
};

/* "steady[workers=4 rate=poisson:200.000/s]" for people: "steady: 4 workers, 200/s". */
LB.titleOf = function (scenario) {
  var parts = scenario.match(/^(.*)\[(.*)\]$/);
  if (!parts) return scenario;
  return parts[1] + ": " + parts[2].split(" ").map(function (setting) {
    var at = setting.indexOf("="), key = setting.slice(0, at), value = setting.slice(at + 1);
    if (key === "workers") return LB.plural(value, "worker");
    if (key === "rate") return value.replace(/^poisson:/, "").replace(/\.0+\/s$/, "/s");
    return at < 0 ? setting : key + " " + value;
  }).join(", ");
};

/* What was asked and what came of it, in sentences: of a plan its answers, of a comparison the choice. */
LB.headlinesOf = function (run) {
  var marks = { answered: ["\u2713 ", "held"], missed: ["\u2717 ", "violated"], refused: ["? ", "other"] }, all = [];
  (run.plans || []).forEach(function (p) {
    var asked = ["workers", "slo", "peak", "carry"].filter(function (q) { return p.answers.some(function (a) { return a.question === q; }); })[0];
    p.answers.forEach(function (a) {
      var mark = marks[a.verdict] || marks.refused;
      if (a.question === asked || a.verdict === "missed") all.push({ cls: mark[1], mark: mark[0], text: (run.plans.length > 1 ? p.strategy + " on " + p.engine + ": " : "") + a.text });
    });
  });
  (run.choice || []).forEach(function (c) {
    if (run.plans.length > 1) all.push({ cls: "", mark: "", text: "To take up to " + LB.count(c.up_to_per_s) + "/s: " + c.strategy + " on " + c.engine + " with " + LB.plural(c.workers, "worker") + "." });
  });
  LB.rankingsOf(run).forEach(function (t) {
    if (t.choice && all.every(function (a) { return a.table !== t.scenario + t.engine; }))
      all.push({ cls: "", mark: "", table: t.scenario + t.engine, text: t.scenario + " on " + t.engine + ". " + t.choice + " " + t.answer });
  });
  return all.slice(0, 6);
};

/* What the result is about, for the title. */
LB.subjectOf = function (result) {
  var names = { plan: "Plan", compare: "Comparison", verify: "Verification", run: "Run", age: "Ageing" }, strategies = [], engines = [];
  var ages = LB.isAge(result) ? result.aged.map(function (a) { return { strategy: a.strategy, engine: a.target }; }) : [];
  result.run.cells.concat(ages).forEach(function (c) {
    if (strategies.indexOf(c.strategy) < 0) strategies.push(c.strategy);
    if (engines.indexOf(c.engine) < 0) engines.push(c.engine);
  });
  return (names[result.run.command] || "Result") + " of " + (strategies.length > 3 ? LB.plural(strategies.length, "strategy", "strategies") : strategies.join(", ")) + " on " + engines.join(", ");
};

LB.statements = function () {
  var all = {};
  LB.results.forEach(function (r) { Object.keys(r.statements || {}).forEach(function (key) { all[key] = r.statements[key]; }); });
  var names = Object.keys(all).sort();
  if (names.length === 0 || names.length > 40) return;
  var section = LB.section("statements", "Statements", "As lockbench has them, with all forms and options. \u201clockbench show NAME -d ENGINE\u201d prints one form, ready to paste.");
  names.forEach(function (name) { section.appendChild(LB.el("details", {}, LB.el("summary", {}, name), LB.el("pre", {}, all[name]))); });
};

LB.header = function () {
  var page = document.getElementById("page"), header = LB.el("header", {}, LB.el("h1", {}, LB.results.length === 1 ? LB.subjectOf(LB.results[0]) : "lockbench report"));
  LB.results.forEach(function (r) {
    if (LB.isAge(r)) return;
    LB.headlinesOf(r.run).forEach(function (a) { header.appendChild(LB.el("p", { "class": "lead answer" }, LB.el("strong", { "class": a.cls }, a.mark), (LB.results.length > 1 ? r.name + ": " : "") + a.text)); });
  });
  var answered = LB.results.some(function (r) { return LB.headlinesOf(r.run).length > 0; });
  LB.growing().forEach(function (text) { header.appendChild(LB.el("p", { "class": "lead answer" }, text)); });
  if (!LB.results.every(LB.isAge)) header.appendChild(LB.el("p", { "class": answered ? "" : "lead" }, LB.summarise()));
  LB.results.forEach(function (r) {
    var e = r.run.environment || {};
    if (LB.isAge(r)) return;
    header.appendChild(LB.el("p", { "class": "soft" }, (LB.results.length > 1 ? r.name + ": " : "") + [(LB.results.length > 1 ? "" : r.name + ": ") + "lockbench " + LB.told(r.run.lockbench) + " " + LB.told(r.run.command),
      LB.told(r.run.started).replace("T", " ").replace("Z", " UTC"), "on " + LB.told(e.machine), LB.plural(LB.told(e.cores), "core"), LB.told(e.system)].join(", ") + "; seed " + LB.told(r.run.seed) + ", " + LB.plural(LB.told(r.run.repeat), "run") + " per case."));
    if (r.run.interrupted) header.appendChild(LB.el("p", { "class": "alarm" }, "This run was interrupted: what is here was measured until then."));
  });
  page.appendChild(header);
};

LB.navigation = function () {
  var list = LB.el("ul");
  LB.sections.forEach(function (s) { list.appendChild(LB.el("li", {}, LB.el("a", { href: "#" + s[0] }, s[1]))); });
  var header = document.querySelector("header");
  header.parentNode.insertBefore(LB.el("nav", { "aria-label": "Parts of this page" }, list), header.nextSibling);
};

/* Settings in which cells differ say so; the others are shown once. */
LB.environment = function () {
  if (LB.results.every(LB.isAge)) return;
  var section = LB.section("environment", "Configuration and environment", "Numbers compare only with equal configuration: durability settings above all.");
  LB.results.forEach(function (r) {
    if (LB.isAge(r)) return;
    var e = r.run.environment || {}, cells = r.run.cells.filter(function (c) { return c.runs.length; }), servers = {};
    section.appendChild(LB.el("h3", {}, LB.results.length > 1 ? r.name : "Machine"));
    section.appendChild(LB.pairs({ machine: e.machine, cores: e.cores, memory: LB.bytes(e.memory_bytes), system: e.system, lockbench: r.run.lockbench, started: r.run.started, seed: r.run.seed, "runs per case": r.run.repeat }));
    cells.forEach(function (c) { if (!servers[c.engine]) servers[c.engine] = c; });
    Object.keys(servers).forEach(function (engine) {
      var settings = servers[engine].runs[0].server_settings || {};
      if (Object.keys(settings).length === 0) return;
      section.appendChild(LB.el("h3", {}, engine));
      section.appendChild(LB.pairs(settings));
    });
    if (cells.length === 0) return;
    var same = {}, differ = {};
    Object.keys(cells[0].config).forEach(function (key) {
      var values = [];
      cells.forEach(function (c) { var t = LB.setting(key, c.config[key]); if (values.indexOf(t) < 0) values.push(t); });
      (values.length === 1 ? same : differ)[key] = values.join(", ");
    });
    section.appendChild(LB.el("h3", {}, "Scenario"));
    if (Object.keys(differ).length) LB.add(section, [LB.el("p", { "class": "note" }, "Differs between the cases:"), LB.pairs(differ)]);
    section.appendChild(LB.el("details", {}, LB.el("summary", {}, "The same for all: " + LB.plural(Object.keys(same).length, "setting")), LB.pairs(same)));
  });
};

LB.footer = function () {
  document.getElementById("page").appendChild(LB.el("footer", {},
    LB.el("p", {}, "Made by lockbench report from stored results alone; this file needs no network."),
    LB.el("details", {}, LB.el("summary", {}, "Charts are drawn with D3, copyright Michael Bostock: its licence"), LB.el("pre", {}, document.getElementById("licence").textContent))));
};

LB.main = function () {
  LB.results = JSON.parse(document.getElementById("data").textContent).results;
  document.getElementById("page").textContent = "";
  document.title = LB.results.map(function (r) { return r.name; }).join(", ") + " \u00b7 lockbench report";
  LB.collect();
  LB.header();
  var ofRuns = LB.results.every(LB.isAge) ? [] : [LB.plans, LB.verdicts, LB.numbers, LB.comparison, LB.scaling, LB.batches, LB.answers, LB.costs];
  ofRuns.concat([LB.aged, LB.mutants], ofRuns.length ? [LB.detail] : [], [LB.statements, LB.environment]).forEach(function (part) { part(); });
  if (!ofRuns.length) document.querySelector(".skip").remove();
  LB.navigation();
  LB.footer();
  document.documentElement.setAttribute("data-drawn", "yes");
  document.documentElement.setAttribute("data-height", document.body.offsetHeight); /* lays it out */
  document.documentElement.setAttribute("data-ms", Math.round(performance.now()));
};
try {
  LB.main();
} catch (error) {
  document.getElementById("page").appendChild(LB.el("p", { "class": "alarm" }, "The rest of this page cannot be drawn: " + error.message));
  throw error;
}

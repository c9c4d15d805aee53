/* Which clause of a strategy is needed: the verdicts of `lockbench mutate --format json`. */

LB.mutants = function () {
  var results = LB.results.filter(function (r) { return r.mutants; });
  if (results.length === 0) return;
  var section = LB.section("mutants", "Clauses", "A mutant is the strategy with one clause left out or weakened. Needed: without it a guarantee is violated, nothing works, or workers get other answers or leave other rows. Redundant: either of two can go alone. Slower: only the cost changes. Not shown: no question decided it.");
  results.forEach(function (r) {
    var m = r.mutants;
    section.appendChild(LB.el("h3", {}, m.strategy + " on " + m.engine));
    section.appendChild(LB.el("p", {}, m.summary));
    section.appendChild(LB.table({ full: true, label: "Clauses of " + m.strategy + " on " + m.engine,
      columns: [{ label: "line", key: "line", num: true, sort: true }, { label: "section", key: "section", sort: true }, { label: "clause" }, { label: "verdict", key: "verdict", sort: true }, { label: "shown by, or why not" }],
      rows: m.mutants.map(function (c) {
        var why = c.violated ? c.violated + ", by " + c.question + ": " + c.witness : LB.told(c.reason);
        if (c.verdict === "redundant") why = "with number " + c["with"] + ": " + why;
        return { cells: [LB.num(c.line, LB.whole), c.section || "header", { text: c.clause, cls: "phrase" }, c.verdict.replace("_", " "), { text: why, cls: "phrase" }] };
      }) }));
  });
};

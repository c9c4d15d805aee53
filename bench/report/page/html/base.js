/* The page's own tools: elements, numbers for people, tables. All text of a result goes through
 * createTextNode: it is never markup. */
"use strict";
var LB = {};

LB.el = function (name, attributes) {
  var node = document.createElement(name);
  Object.keys(attributes || {}).forEach(function (key) {
    if (key === "on") node.addEventListener(attributes.on[0], attributes.on[1]);
    else if (attributes[key] !== null && attributes[key] !== undefined) node.setAttribute(key, attributes[key]);
  });
  for (var i = 2; i < arguments.length; i++) LB.add(node, arguments[i]);
  return node;
};

LB.add = function (node, child) {
  if (child === null || child === undefined) return;
  if (Array.isArray(child)) child.forEach(function (c) { LB.add(node, c); });
  else node.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
};

/* --- numbers --- */

/* What an older or a newer lockbench may not have stored. */
LB.told = function (v) { return v === undefined || v === null ? "(not told)" : String(v); };

LB.isNumber = function (v) { return typeof v === "number" && isFinite(v); };

/* Three significant digits, without an exponent. */
LB.digits = function (v) {
  if (v === 0) return "0";
  var size = Math.floor(Math.log10(Math.abs(Number(v.toPrecision(3)))));
  return v.toFixed(Math.max(0, Math.min(6, 2 - size)));
};

LB.scaled = function (v, units) {
  for (var i = 0; i < units.length; i++)
    if (Number((v / units[i][0]).toPrecision(3)) < 1000 || i === units.length - 1)
      return LB.digits(v / units[i][0]) + units[i][1];
};

LB.ns = function (v) {
  if (!LB.isNumber(v)) return "n/a";
  if (v < 1000) return Math.round(v) + " ns";
  return LB.scaled(v, [[1e3, " \u00b5s"], [1e6, " ms"], [1e9, " s"]]);
};

LB.count = function (v) {
  if (!LB.isNumber(v)) return "n/a";
  if (v < 1000) return v === Math.round(v) ? String(v) : LB.digits(v);
  return LB.scaled(v, [[1e3, "k"], [1e6, "M"], [1e9, "G"]]);
};

LB.bytes = function (v) {
  if (!LB.isNumber(v)) return "n/a";
  if (v < 1000) return LB.digits(v) + " B";
  return LB.scaled(v, [[1e3, " kB"], [1e6, " MB"], [1e9, " GB"]]);
};

/* On an axis, zeros at the end say nothing. */
LB.trim = function (text) { return text.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, ""); };
LB.axisCount = function (v) { return LB.trim(LB.count(v)); };
LB.axisNs = function (v) { return v === 0 ? "0" : LB.trim(LB.ns(v)); };

/* Times of an axis from low to high, with as many digits as its steps need. A window within a run has
 * the unit of the witness's words beside it. */
LB.timesOf = function (low, high, n) {
  var unit = high < 1e6 || low === 0 ? [[1e9, " s"], [1e6, " ms"], [1e3, " \u00b5s"], [1, " ns"]].filter(function (u) { return high >= u[0]; })[0] || [1, " ns"] : [1e6, " ms"];
  var step = (high - low) / n / unit[0], decimals = Math.max(0, Math.min(9, 1 - Math.floor(Math.log10(step))));
  return function (v) { return LB.trim((v / unit[0]).toFixed(decimals)) + unit[1]; };
};

/* Words of lockbench's text output, which is plain ASCII. */
LB.words = function (text) { return String(text).replace(/(\d) us\b/g, "$1 \u00b5s"); };

LB.whole = function (v) {
  return LB.isNumber(v) ? String(v).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f") : "n/a";
};

LB.plural = function (n, one, many) { return n + " " + (String(n) === "1" ? one : many || one + "s"); };

LB.median = function (values) {
  var v = values.filter(LB.isNumber).sort(function (a, b) { return a - b; });
  if (v.length === 0) return null;
  return (v[(v.length - 1) >> 1] + v[v.length >> 1]) / 2;
};

/* --- tables --- */

/* A cell is a text, a number with its format, or a node:
 *   {text, value, node, cls}; value is what is sorted by, and stands in data-value as it was stored. */
LB.num = function (value, format, extra) {
  return { value: LB.isNumber(value) ? value : null, text: (format || LB.count)(value), cls: "num", extra: extra };
};

LB.cell = function (tag, c, attributes) {
  if (c === null || c === undefined) c = "";
  if (typeof c !== "object") c = { text: c };
  var node = LB.el(tag, attributes || {}, c.node || c.text);
  if (c.cls) node.className = c.cls;
  if (c.extra) LB.add(node, c.extra);
  if (c.value !== undefined && c.value !== null) node.setAttribute("data-value", c.value);
  return node;
};

/* columns: {label, num, sort, key}; rows: {cells, attributes}. The first column heads its row. */
LB.table = function (spec) {
  var body = LB.el("tbody"), head = LB.el("tr"), table;
  var rows = spec.rows.map(function (row) {
    var tr = LB.el("tr", row.attributes || {});
    row.cells.forEach(function (c, i) {
      tr.appendChild(LB.cell(i === 0 ? "th" : "td", c, i === 0 ? { scope: "row" } : { "data-key": spec.columns[i].key }));
    });
    body.appendChild(tr);
    return { tr: tr, cells: row.cells };
  });
  function key(row, i) {
    var c = row.cells[i];
    return c && typeof c === "object" ? (c.value !== undefined ? c.value : c.text || "") : c;
  }
  function sort(i, th) {
    var down = th.getAttribute("aria-sort") === "ascending";
    Array.prototype.forEach.call(head.children, function (other) { other.removeAttribute("aria-sort"); });
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.querySelectorAll("tr.witness").forEach(function (tr) { tr.remove(); });
    body.querySelectorAll("[aria-expanded=true]").forEach(function (b) { b.setAttribute("aria-expanded", "false"); });
    rows.slice().sort(function (a, b) {
      var x = key(a, i), y = key(b, i);
      if (x === null || y === null) return (x === null) - (y === null);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    }).forEach(function (row) { body.appendChild(row.tr); });
  }
  spec.columns.forEach(function (column, i) {
    var th = LB.el("th", { scope: "col", "class": column.num ? "num" : null });
    LB.add(th, column.sort ? LB.el("button", { type: "button", on: ["click", function () { sort(i, th); }] }, column.label)
                           : column.label);
    head.appendChild(th);
  });
  table = LB.el("table", { "class": spec.full ? "full" : null, "aria-label": spec.caption ? null : spec.label }, spec.caption ? LB.el("caption", {}, spec.caption) : null,
                LB.el("thead", {}, head), body);
  return LB.el("div", { "class": "wide", tabindex: "0", role: "group", "aria-label": spec.label || spec.caption }, table);
};

/* Names and values, one below the other. */
LB.pairs = function (object, format) {
  var dl = LB.el("dl");
  Object.keys(object || {}).forEach(function (name) {
    LB.add(dl, [LB.el("dt", {}, name), LB.el("dd", {}, format ? format(name, object[name]) : LB.told(object[name]))]);
  });
  return dl;
};

/* A value of the configuration: its unit stands in its name. */
LB.setting = function (name, value) {
  if (/_ns$/.test(name) && LB.isNumber(value)) return LB.ns(value);
  if (value === true) return "yes";
  if (value === false) return "no";
  return value === "" ? "(none)" : LB.told(value);
};

LB.section = function (id, title, note) {
  var section = LB.el("section", { id: id, "aria-labelledby": id + "-title" }, LB.el("h2", { id: id + "-title" }, title),
                      note ? LB.el("p", { "class": "note" }, note) : null);
  document.getElementById("page").appendChild(section);
  LB.sections.push([id, title]);
  return section;
};
LB.sections = [];

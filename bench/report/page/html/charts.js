/* What charts share: a figure with its caption and its data as a table, axes, and patterns. A chart
 * is drawn for the width that it has, and again when that changes. */
LB.figures = [];

/* spec: {title, note, draw(svg, width), table() -> node, key: [[class, text]...]}. parent is in the
 * document already. */
LB.figure = function (parent, spec) {
  var id = "figure-" + (LB.figures.length + 1), drawn = 0;
  var box = LB.el("div", { "class": "plot" });
  var figure = LB.el("figure", {}, LB.el("figcaption", {}, LB.el("strong", { id: id }, spec.title),
                                         spec.note ? LB.el("span", { id: id + "-note" }, spec.note) : null),
                     spec.key ? LB.key(spec.key) : null, box);
  if (spec.table) {
    var details = LB.el("details", {}, LB.el("summary", {}, "Data as a table"));
    details.addEventListener("toggle", function () {
      if (details.open && details.children.length === 1) LB.add(details, spec.table());
    });
    figure.appendChild(details);
  }
  parent.appendChild(figure);
  function draw() {
    var width = Math.max(260, Math.round(box.clientWidth || 720));
    if (width === drawn || !document.contains(box)) return;
    drawn = width;
    box.textContent = "";
    var svg = d3.select(box).append("svg").attr("role", "img").attr("aria-labelledby", id);
    if (spec.note) svg.attr("aria-describedby", id + "-note");
    spec.draw(svg, width);
  }
  draw();
  LB.figures.push(draw);
  return figure;
};

window.addEventListener("resize", function () {
  clearTimeout(LB.resizing);
  LB.resizing = setTimeout(function () { LB.figures.forEach(function (draw) { draw(); }); }, 120);
});

LB.key = function (entries) {
  var list = LB.el("ul", { "class": "key" });
  entries.forEach(function (entry) {
    var item = LB.el("li");
    var svg = d3.select(item).append("svg").attr("viewBox", "0 0 22 10").attr("aria-hidden", "true");
    LB.swatch(svg, entry[0]);
    item.appendChild(document.createTextNode(entry[1]));
    list.appendChild(item);
  });
  return list;
};

LB.swatch = function (svg, cls) {
  if (/line|second|guide|context|span/.test(cls)) svg.append("path").attr("class", cls).attr("d", "M0,5H22");
  else if (/dot|hollow/.test(cls)) svg.append("circle").attr("class", cls).attr("cx", 11).attr("cy", 5).attr("r", 4);
  else if (cls === "cross") LB.cross(svg, 11, 5);
  else {
    LB.patterns(svg);
    svg.append("rect").attr("class", cls).attr("width", 22).attr("height", 10);
    if (LB.hatches[cls]) svg.append("rect").attr("width", 22).attr("height", 10).attr("fill", "url(#" + LB.hatches[cls] + ")");
  }
};

LB.cross = function (g, x, y) {
  return g.append("path").attr("class", "bad-line").attr("d", "M" + (x - 4) + "," + (y - 4) + "l8,8m0,-8l-8,8");
};

/* Fills that differ without their colour. */
LB.hatches = { a1: "dots", a2: "rising", a3: "crossed", a4: "level", fault: "rising", warm: "dots", "bad-fill": "crossed" };
LB.patterns = function () {
  if (document.getElementById("patterns")) return;
  var svg = d3.select(document.body).append("svg").attr("id", "patterns").attr("aria-hidden", "true")
    .style({ position: "absolute", width: "0", height: "0" });
  [["dots", 5, "M1,1h1.2v1.2h-1.2z"], ["rising", 6, "M0,6L6,0"], ["crossed", 6, "M0,6L6,0M0,0L6,6"], ["level", 5, "M0,2H5"]]
    .forEach(function (p) {
      svg.append("pattern").attr({ id: p[0], width: p[1], height: p[1], patternUnits: "userSpaceOnUse" })
        .append("path").attr("d", p[2]).style({ stroke: "var(--ink)", "stroke-width": 0.8, opacity: 0.45, fill: "none" });
    });
};

/* A drawing area of the given height within margins [top, right, bottom, left]. */
LB.frame = function (svg, width, height, margin) {
  svg.attr("viewBox", "0 0 " + width + " " + (height + margin[0] + margin[2]));
  return { g: svg.append("g").attr("transform", "translate(" + margin[3] + "," + margin[0] + ")"),
           width: width - margin[1] - margin[3], height: height };
};

LB.axis = function (frame, scale, side, options) {
  options = options || {};
  var axis = d3.svg.axis().scale(scale).orient(side).outerTickSize(0).innerTickSize(4).tickPadding(5);
  if (options.values) axis.tickValues(options.values);
  else axis.ticks(options.ticks || 5);
  axis.tickFormat(options.format || LB.axisCount);
  var g = frame.g.append("g").attr("class", "axis").attr("aria-hidden", "true");
  if (side === "bottom") g.attr("transform", "translate(0," + frame.height + ")");
  /* Labels that would lie on each other: of the values, as many as there is room for. */
  if (options.values && options.values.length > 1) {
    var room = [], most = side !== "bottom" ? 14 : d3.max(options.values, function (v) { return (options.format || LB.axisCount)(v).length; }) * 7.5 + 8;
    options.values.forEach(function (v) { if (!room.length || Math.abs(scale(v) - scale(room[room.length - 1])) >= most) room.push(v); });
    axis.tickValues(room);
  }
  if (options.grid) axis.innerTickSize(side === "bottom" ? -frame.height : -frame.width);
  g.call(axis);
  if (options.label) {
    var text = g.append("text").attr("class", "soft").text(options.label);
    if (side === "bottom") text.attr({ x: frame.width, y: 32, "text-anchor": "end" });
    else text.attr({ x: -4, y: -9, "text-anchor": "start" }).attr("x", -(options.left || 44));
  }
  return g;
};

/* An axis of nanoseconds, a tick for so many pixels. */
LB.timeAxis = function (frame, scale, each, label, plain) {
  var n = Math.max(2, Math.floor(frame.width / each)), domain = scale.domain();
  return LB.axis(frame, scale, "bottom", { ticks: n, format: LB.timesOf(domain[0], domain[1], n), grid: !plain, label: label || "since the run began" });
};

/* Powers of ten within a range, and of few their 2 and 5 too. */
LB.decades = function (low, high) {
  function within(steps) {
    var values = [], last = Math.ceil(Math.log10(high));
    for (var e = Math.floor(Math.log10(low)); e <= last; e++)
      steps.forEach(function (m) {
        var v = m * Math.pow(10, e);
        if (v >= low * 0.999 && v <= high * 1.001) values.push(v);
      });
    return values;
  }
  var values = within([1]);
  if (values.length < 3) values = within([1, 2, 5]);
  if (values.length < 3) return d3.scale.linear().domain([low, high]).ticks(5).filter(function (v) { return v > 0; });
  return values;
};

/* Names at the ends of lines, moved apart where they would lie on each other. */
LB.endLabels = function (f, ends, most) {
  ends.sort(function (a, b) { return a.y - b.y; });
  ends.forEach(function (e, i) { e.y = Math.max(e.y, i > 0 ? ends[i - 1].y + 13 : 4); });
  for (var i = ends.length - 1, low = f.height; i >= 0; i--, low -= 13) ends[i].y = Math.min(ends[i].y, low);
  ends.forEach(function (e) { LB.label(f.g, e.name, f.width + 6, e.y, most, "start").attr("class", e.other ? "soft" : ""); });
};

/* What tells a case from the others beside it: what they share is in the heading. */
LB.shortName = function (cell, cells) {
  var parts = ["strategy", "engine"].filter(function (k) { return cells.length === 1 || cells.some(function (c) { return c[k] !== cell[k]; }); }).map(function (k) { return cell[k]; });
  if (cells.some(function (c) { return c.scenario !== cell.scenario; })) {
    var point = cell.scenario.match(/\[(.*)\]$/), base = cell.scenario.replace(/\[.*$/, "");
    parts.push(point && cells.every(function (c) { return c.scenario.replace(/\[.*$/, "") === base; }) ? point[1] : cell.scenario);
  }
  return (parts.length ? parts : [cell.strategy]).join(" \u00b7 ");
};

LB.title = function (selection, text) { selection.append("title").text(text); return selection; };

/* A label that is cut to a number of characters, whole in its title. */
LB.label = function (g, text, x, y, most, anchor) {
  var shown = text.length > most ? text.slice(0, most - 1) + "\u2026" : text;
  var node = g.append("text").attr({ x: x, y: y, dy: ".35em", "text-anchor": anchor || "end" }).text(shown);
  if (shown !== text) LB.title(node, text);
  return node;
};

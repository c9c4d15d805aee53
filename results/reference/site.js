// The filters of the table. Without a script all rows and columns stand there.
(function () {
  "use strict";
  var form = document.getElementById("filters"), table = document.getElementById("table");
  var rows = Array.prototype.slice.call(table.tBodies[0].rows);
  var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
  function apply() {
    var engine = form.elements.engine.value, need = form.elements.need.value;
    var verdict = form.elements.verdict.value, text = form.elements.text.value.toLowerCase(), shown = 0;
    var wanted = heads.map(function (th) { return !th.dataset.engine || engine === "" || th.dataset.engine === engine; });
    heads.forEach(function (th, i) { th.hidden = !wanted[i]; });
    rows.forEach(function (row) {
      var cells = Array.prototype.slice.call(row.cells), has = verdict === "";
      cells.forEach(function (cell, i) {
        cell.hidden = !wanted[i];
        if (wanted[i] && cell.dataset.verdict === verdict) has = true;
      });
      var fits = has && (need === "" || row.dataset.need === need) &&
        (text === "" || row.cells[0].textContent.toLowerCase().indexOf(text) >= 0);
      row.hidden = !fits;
      if (fits) shown++;
    });
    document.getElementById("shown").textContent = shown + " of " + rows.length + " rows";
  }
  form.addEventListener("input", apply);
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.hidden = false;
  apply();
  document.documentElement.dataset.ready = "yes";
})();

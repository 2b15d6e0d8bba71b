"use strict";
(function () {
  const tables = Array.from(document.querySelectorAll("table.candidates"));
  const status = document.getElementById("shown");
  const field = document.getElementById("filter");

  function compare(at, sign) {
    return function (a, b) {
      const x = a.cells[at], y = b.cells[at];
      const p = x.dataset.sort, q = y.dataset.sort;
      if (p !== undefined && q !== undefined) return sign * (Number(p) - Number(q));
      if (p !== undefined) return -1;
      if (q !== undefined) return 1;
      return sign * x.textContent.localeCompare(y.textContent);
    };
  }

  function sortBy(table, heads, at) {
    const body = table.tBodies[0];
    const down = heads[at].getAttribute("aria-sort") === "ascending";
    const rows = Array.from(body.rows).sort(compare(at, down ? -1 : 1));
    heads.forEach(function (head) { head.setAttribute("aria-sort", "none"); });
    heads[at].setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.forEach(function (row) { body.appendChild(row); });
  }

  function filter() {
    const parts = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0, total = 0;
    tables.forEach(function (table) {
      const heads = table.tHead.rows[0].cells, details = table.closest("details");
      let found = 0;
      Array.from(table.tBodies[0].rows).forEach(function (row) {
        const text = Array.from(row.cells).map(function (cell, at) {
          return heads[at].textContent + "=" + cell.textContent;
        }).concat(details.querySelector("summary").textContent).join("\n").toLowerCase();
        row.hidden = !parts.every(function (part) { return text.includes(part); });
        found += row.hidden ? 0 : 1;
        total += 1;
      });
      count += found;
      if (parts.length) details.open = found > 0;
    });
    status.textContent = count + " of " + total + " shown";
  }

  tables.forEach(function (table) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach(function (head, at) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", function () { sortBy(table, heads, at); });
      head.textContent = "";
      head.appendChild(button);
    });
  });
  field.addEventListener("input", filter);
  document.getElementById("filtering").hidden = false;
  filter();
  // a printed page shows everything
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (one) { one.open = true; });
  });
})();

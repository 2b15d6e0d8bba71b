"use strict";
(function () {
  const table = document.getElementById("candidates");
  if (!table) return;
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
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

  function sortBy(at) {
    const down = heads[at].getAttribute("aria-sort") === "ascending";
    const rows = Array.from(body.rows).sort(compare(at, down ? -1 : 1));
    heads.forEach(function (head) { head.setAttribute("aria-sort", "none"); });
    heads[at].setAttribute("aria-sort", down ? "descending" : "ascending");
    rows.forEach(function (row) { body.appendChild(row); });
  }

  function filter() {
    const parts = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    Array.from(body.rows).forEach(function (row) {
      const cells = Array.from(row.cells);
      const text = cells.map(function (cell, at) {
        return (heads[at].textContent + "=" + cell.textContent).toLowerCase();
      }).join("\n");
      row.hidden = !parts.every(function (part) { return text.includes(part); });
      count += row.hidden ? 0 : 1;
    });
    status.textContent = count + " of " + body.rows.length + " shown";
  }

  heads.forEach(function (head, at) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", function () { sortBy(at); });
    head.textContent = "";
    head.appendChild(button);
  });
  field.addEventListener("input", filter);
  document.getElementById("filtering").hidden = false;
  filter();
})();

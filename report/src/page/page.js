// Sorts a table by the column whose header is chosen: numbers by value, texts by alphabet, then the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => {
      const down = header.getAttribute("aria-sort") === "ascending";
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column];
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (header.classList.contains("number")) {
          return (Number(x.dataset.value ?? NaN) || 0) - (Number(y.dataset.value ?? NaN) || 0);
        }
        return x.textContent.localeCompare(y.textContent);
      };
      const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? order(b, a) : order(a, b)));
      table.tBodies[0].append(...rows);
    });
  });
}

// A table that is wider than the screen says so.
{
  const tell = () => {
    for (const frame of document.querySelectorAll(".table")) {
      frame.classList.toggle("wider", frame.scrollWidth > frame.clientWidth + 1);
    }
  };
  tell();
  window.addEventListener("resize", tell);
  document.addEventListener("toggle", tell, true);
}

// Rows of a list that a person chooses, for what is done to them, and to compare two.

function boxes(main: HTMLElement): HTMLInputElement[] {
  return Array.from(main.querySelectorAll<HTMLInputElement>("input[type=checkbox][name=selected]"));
}

/** selection offers to choose all rows of a page, and tells how many are chosen. */
export function selection(main: HTMLElement): void {
  const head = main.querySelector("[data-all]");
  if (!head) return;
  const all = document.createElement("input");
  all.type = "checkbox";
  all.setAttribute("aria-label", "Choose all rows of this page");
  all.addEventListener("change", () => {
    for (const box of boxes(main)) box.checked = all.checked;
  });
  head.replaceChildren(all);
  chosen(main);
}

/** chosen tells how many rows are chosen, and offers what can be done to so many. */
export function chosen(main: HTMLElement): void {
  const rows = boxes(main);
  const n = rows.filter((box) => box.checked).length;
  const all = main.querySelector<HTMLInputElement>("[data-all] input");
  if (all) {
    all.checked = n > 0 && n === rows.length;
    all.indeterminate = n > 0 && n < rows.length;
  }
  const summary = main.querySelector("[data-chosen]");
  if (summary) summary.textContent = n === 0 ? "Act on chosen rows…" : `Act on ${n} chosen ${n === 1 ? "row" : "rows"}…`;
  const two = main.querySelector<HTMLButtonElement>("[data-two]");
  if (two) two.disabled = n !== 2;
}

/** pick chooses the row that j and k have come to, or no longer. */
export function pick(main: HTMLElement): void {
  const row = main.querySelector("tr.here") ?? document.activeElement?.closest("tr");
  row?.querySelector<HTMLInputElement>("input[type=checkbox][name=selected]")?.click();
}

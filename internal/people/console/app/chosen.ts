// What a page says of one activity belongs together: chosen in the picture, or where the page
// speaks of it, it is marked everywhere.

import { bring } from "./picture";

let chosen = ""; // the id of an activity

/** inSight tells what is laid out: what is folded away is not. */
export function inSight(e: Element): boolean {
  return e.checkVisibility();
}

/** about are the parts of a page that speak of an activity. */
function about(root: Element, id: string): HTMLElement[] {
  return Array.from(root.querySelectorAll<HTMLElement>("[data-activity]")).filter((e) => e.dataset["activity"] === id);
}

/** marked marks what is chosen, also in a page that was renewed. */
export function marked(root: Element): void {
  for (const old of root.querySelectorAll("[data-activity].chosen, [data-chooses] g.selected")) old.classList.remove("chosen", "selected");
  for (const hint of root.querySelectorAll<HTMLElement>("[data-chooses-hint]")) hint.hidden = false;
  if (chosen === "") return;
  for (const e of about(root, chosen)) e.classList.add("chosen");
  for (const node of root.querySelectorAll("[data-chooses] g[data-id]")) {
    if (node.getAttribute("data-id") === chosen) node.classList.add("selected");
  }
}

/** choosing listens for what is chosen. A link of the picture is followed by the second click, by a key, or if the page says nothing else. */
export function choosing(root: HTMLElement): void {
  root.addEventListener("click", (event) => {
    const at = event.target as Element;
    if (event.ctrlKey || event.metaKey || event.shiftKey || !root.querySelector("[data-chooses]")) return;
    const link = at.closest("[data-chooses] a");
    const id = link?.querySelector("g[data-id]")?.getAttribute("data-id") ?? at.closest<HTMLElement>("[data-activity]")?.dataset["activity"] ?? "";
    if (!id) return;
    const seen = about(root, id).filter(inSight);
    if (link) {
      if (id === chosen || seen.length === 0 || event.detail === 0) return; // 0: no pointer has clicked
      event.preventDefault();
    } else if (at.closest("a, button, input, textarea, select, label, summary") || (document.getSelection()?.toString() ?? "") !== "") {
      return;
    }
    chosen = id;
    marked(root);
    if (link) seen[0].scrollIntoView({ block: "nearest" });
    else for (const node of root.querySelectorAll("[data-chooses] g.selected")) bring(node);
  });
}

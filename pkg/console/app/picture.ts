// A picture beside the text that it is of: what is chosen in one is chosen in the other.

/** nodes are the activities of a picture whose line is known. */
function nodes(picture: Element): SVGGElement[] {
  return Array.from(picture.querySelectorAll<SVGGElement>("g[data-line]"));
}

function lineOf(node: Element): number {
  return Number(node.getAttribute("data-line"));
}

/** reachable lets keys reach the activities of a picture; each has its title as its name. */
export function reachable(picture: Element): void {
  for (const node of nodes(picture)) {
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
  }
}

/** choose marks the activity that a line belongs to: the last one that begins at it or before; 0: none. */
export function choose(picture: Element, line: number): void {
  let chosen: SVGGElement | null = null;
  for (const node of nodes(picture)) {
    const at = lineOf(node);
    if (at <= line && (!chosen || at >= lineOf(chosen))) chosen = node;
  }
  for (const node of nodes(picture)) node.classList.toggle("selected", node === chosen);
  if (!chosen) return;
  // Only the picture is scrolled, and only if the activity is not in sight: scrollIntoView would move the page too.
  const frame = picture.getBoundingClientRect();
  const box = (chosen.querySelector("rect") ?? chosen).getBoundingClientRect();
  if (box.top < frame.top || box.bottom > frame.bottom) picture.scrollTop += box.top - frame.top - frame.height / 3;
  if (box.left < frame.left || box.right > frame.right) picture.scrollLeft += box.left - frame.left - frame.width / 3;
}

/** onChoice tells the line of an activity that somebody clicks on, or opens by a key. */
export function onChoice(root: Element, told: (line: number, picture: Element, id: string, byKey: boolean) => void): void {
  const hear = (event: Event): void => {
    const node = (event.target as Element).closest("g[data-line]");
    const picture = node?.closest(".picture");
    if (!node || !picture) return;
    event.preventDefault();
    told(lineOf(node), picture, node.getAttribute("data-id") ?? "", event.type === "keydown");
  };
  root.addEventListener("click", hear);
  root.addEventListener("keydown", (event) => {
    const key = (event as KeyboardEvent).key;
    if (key === "Enter" || key === " ") hear(event);
  });
}

/** inRoot tells whether a line of a definition belongs to what runs, by the key of the first column above it. */
export function inRoot(lines: (n: number) => string, line: number): boolean {
  for (let n = line; n > 0; n--) {
    const key = /^([A-Za-z$"'][^:]*):/.exec(lines(n));
    if (key) return key[1] === "root";
  }
  return true;
}

// A picture beside the text that it is of: what is chosen in one is chosen in the other.

/** nodes are the activities of a picture whose line is known. */
function nodes(picture: Element): SVGGElement[] {
  return Array.from(picture.querySelectorAll<SVGGElement>("g[data-line]"));
}

function lineOf(node: Element): number {
  return Number(node.getAttribute("data-line"));
}

/** handle is what keys reach of an activity: its link, or the activity itself. */
function handle(node: Element): SVGElement {
  return (node.closest("a") ?? node) as SVGElement;
}

/** activity finds what an element is a part of, or the link of. */
function activity(e: Element): SVGGElement | null {
  return e.closest<SVGGElement>("g[data-line]") ?? (e.matches(".picture a") ? e.querySelector<SVGGElement>("g[data-line]") : null);
}

/** reachable lets keys reach the activities of a picture: Tab one of them, and arrows from one to the next. Each has its title as its name. */
export function reachable(picture: Element): void {
  const all = inOrder(picture);
  for (const node of all) if (handle(node) === node) node.setAttribute("role", "button");
  stop(picture, all.find((node) => node.classList.contains("selected")) ?? all[0]);
}

/** inOrder are the activities as the text has them. */
function inOrder(picture: Element): SVGGElement[] {
  return nodes(picture).sort((a, b) => lineOf(a) - lineOf(b));
}

/** stop makes an activity the one that Tab reaches. */
function stop(picture: Element, at: Element | undefined): void {
  for (const node of nodes(picture)) handle(node).setAttribute("tabindex", node === at ? "0" : "-1");
}

/** joined are the activities that ways lead to from one, and from which they lead to it. */
function joined(all: Element[], from: Element): Set<Element> {
  const to = (node: Element): string[] => (node.getAttribute("data-to") ?? "").split(" ");
  const own = from.getAttribute("data-n") ?? "";
  return new Set(all.filter((node) => to(from).includes(node.getAttribute("data-n") ?? "-") || to(node).includes(own)));
}

/** onward is the activity that a key leads to from another one: an arrow along a way to that side, or else to the nearest there; the others in the order of the text. */
function onward(picture: Element, from: SVGGElement, key: string): SVGGElement | undefined {
  const all = inOrder(picture);
  const step: Record<string, number> = { Home: -all.length, End: all.length, k: -1, j: 1 };
  if (key in step) return all[Math.min(all.length - 1, Math.max(0, all.indexOf(from) + step[key]))];
  const sides: Record<string, number[]> = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  const side = sides[key];
  if (!side) return undefined;
  const place = (node: Element): number[] => { // a frame is where its title is
    const box = (node.querySelector("rect") ?? node).getBoundingClientRect();
    return [box.left + box.width / 2, box.top];
  };
  const at = place(from);
  const near = joined(all, from);
  let best: SVGGElement | undefined;
  let least = Infinity;
  for (const node of all) {
    const to = place(node);
    const by = [to[0] - at[0], to[1] - at[1]];
    const ahead = by[0] * side[0] + by[1] * side[1];
    const beside = Math.abs(by[0] * side[1] + by[1] * side[0]); // branches begin beside what they leave, and rows are level
    const way = near.has(node) && (side[1] !== 0 || ahead >= beside); // ways go down: an arrow to the side stays in its row
    const cost = ahead + (side[0] ? 2 : 0.5) * beside + (way ? 0 : 1e6);
    if (ahead > 1 && cost < least) [best, least] = [node, cost];
  }
  return best ?? from;
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
  stop(picture, chosen);
  bring(chosen);
}

/** bring brings an activity into sight. Only the picture is scrolled, and only if it has to be: scrollIntoView would move the page too. */
export function bring(node: Element): void {
  const picture = node.closest(".picture");
  if (!picture) return;
  const frame = picture.getBoundingClientRect();
  const box = (node.querySelector("rect") ?? node).getBoundingClientRect();
  if (box.top < frame.top || box.bottom > frame.bottom) picture.scrollTop += box.top - frame.top - frame.height / 3;
  if (box.left < frame.left || box.right > frame.right) picture.scrollLeft += box.left - frame.left - frame.width / 3;
}

/** onChoice tells the line of an activity that somebody clicks on, or opens by a key, where a text stands beside the picture; other keys lead from one to the next. */
export function onChoice(root: Element, told: (line: number, picture: Element, id: string, byKey: boolean) => void): void {
  const hear = (event: Event): void => {
    const node = activity(event.target as Element);
    const picture = node?.closest(".picture");
    if (!node || !picture || picture.matches("[data-chooses]") || event.type === "keydown" && handle(node) !== node) return; // a link has its own keys
    event.preventDefault();
    told(lineOf(node), picture, node.getAttribute("data-id") ?? "", event.type === "keydown");
  };
  root.addEventListener("click", hear);
  root.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey } = event as KeyboardEvent;
    if (event.defaultPrevented || ctrlKey || metaKey || altKey) return;
    if (key === "Enter" || key === " ") return hear(event);
    const from = activity(event.target as Element);
    const picture = from?.closest(".picture");
    const to = from && picture && onward(picture, from, key);
    if (!to) return;
    event.preventDefault();
    stop(picture!, to);
    handle(to).focus();
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

// What a page does on its own: it renews itself when something happened, and it listens to
// keys. Pages work without it.

import { choosing, inSight, marked } from "./chosen";
import { choose, onChoice, reachable } from "./picture";
import { chosen, pick, selection } from "./select";
import { views } from "./views";

const main = document.querySelector<HTMLElement>("main")!;
const age = document.querySelector<HTMLElement>("[data-age]");

let said = "";
let ages = false; // nothing makes the page new at the moment
let renewed = 0; // when it was last: on the clock of performance.now, which began with the page

/** say tells how the page stays new, or that it does not and how old it is, without an interruption for those who listen to it. */
function say(text: string, old = false): void {
  said = text;
  ages = old;
  tellAge();
}

/** announce tells a change of state to those who listen to the page; all else changes in silence. */
function announce(text: string): void {
  const said = document.querySelector("[data-said]:not(main *)");
  if (said) said.textContent = text;
}

function tellAge(): void {
  if (!age) return;
  const s = Math.max(0, Math.floor((performance.now() - renewed) / 1000));
  const ago = s < 60 ? `${s} s old` : s < 3600 ? `${Math.floor(s / 60)} min old` : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min old`;
  age.textContent = ages ? (said ? said + "; " : "") + ago : said;
}
setInterval(() => {
  if (ages) tellAge();
}, 1000);

/** busy tells whether somebody is at work in the page: then nothing is taken from under them. */
function busy(): boolean {
  const at = document.activeElement;
  if (at && main.contains(at) && at.matches("input:not([type=checkbox]), textarea, select")) return true;
  if (main.querySelector("details[open]:not([data-plain])")) return true;
  for (const field of main.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input:not([type=hidden]), textarea")) {
    const box = field instanceof HTMLInputElement && /^(checkbox|radio)$/.test(field.type); // its value says nothing: "on" where the page gives none
    if (box ? field.checked !== field.defaultChecked : field.value !== field.defaultValue) return true;
  }
  for (const field of main.querySelectorAll("select")) {
    const begins = Array.from(field.options).findIndex((option) => option.defaultSelected);
    if (field.options.length > 0 && field.selectedIndex !== Math.max(0, begins)) return true;
  }
  return (document.getSelection()?.toString() ?? "") !== "";
}

let renewing = false;
let again = false;

/** renew asks for the page once more and puts what is new in the place of what is old. */
async function renew(): Promise<void> {
  if (renewing) {
    again = true;
    return;
  }
  if (document.hidden) return;
  if (busy()) {
    say("paused while you work here", true);
    return;
  }
  renewing = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, credentials: "same-origin" });
    if (answer.status === 401) {
      say("signed out", true);
      return;
    }
    if (!answer.ok && answer.status !== 404) throw new Error(String(answer.status));
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = fresh.querySelector("main");
    if (!next || busy()) return;
    const here = rowOf(main.querySelector("tr.here"));
    const state = main.querySelector<HTMLElement>("[data-state]")?.dataset["state"];
    const unfolded = folds();
    const focused = main.contains(document.activeElement) ? found(document.activeElement!) : null;
    next.querySelectorAll(".done").forEach((note) => note.remove());
    main.replaceChildren(...Array.from(next.childNodes));
    document.title = fresh.title;
    for (const [name, fold] of folds()) fold.open = unfolded.get(name)?.open ?? fold.open;
    const now = main.querySelector<HTMLElement>("[data-state]");
    if (now && now.dataset["state"] !== state) announce(`${main.querySelector("h1 .status")?.textContent ?? ""}: ${now.textContent ?? ""}`);
    linked();
    views(main);
    selection(main);
    if (here) rows().find((row) => rowOf(row) === here)?.classList.add("here");
    focused?.()?.focus({ preventScroll: true });
    const stamp = fresh.querySelector("footer time");
    if (stamp) document.querySelector("footer time")?.replaceWith(stamp);
    renewed = performance.now();
    say("live, " + new Date().toISOString().slice(11, 19) + "Z");
  } catch {
    say("the node does not answer", true);
  } finally {
    renewing = false;
    if (again) {
      again = false;
      void renew();
    }
  }
}

/** named gives each of some elements a name that it has in the renewed page too: those that are called the same are counted. */
function named<E extends Element>(all: Iterable<E>, call: (e: E) => string): Map<string, E> {
  const names = new Map<string, E>();
  const times = new Map<string, number>();
  for (const e of all) {
    const name = call(e);
    const n = (times.get(name) ?? 0) + 1;
    times.set(name, n);
    names.set(`${n} ${name}`, e);
  }
  return names;
}

/** folds are the parts that may be open while the page renews itself: what somebody opened stays open, and what he closed stays closed. */
function folds(): Map<string, HTMLDetailsElement> {
  return named(main.querySelectorAll<HTMLDetailsElement>("details[data-plain]"), (fold) => fold.id || (fold.querySelector("summary")?.textContent ?? ""));
}

/** rowOf names a row by where it leads. */
function rowOf(row: Element | null): string {
  return (row?.querySelector("a.id") ?? row?.querySelector("a[href]"))?.getAttribute("href") ?? "";
}

/** actsOn names what a button is for: the row, and what its form sends. The same button of another row is another one, above all if it deletes. */
function actsOn(e: Element): string {
  const form = e.closest("form") ?? e.parentElement?.querySelector("form");
  const sent = Array.from(form?.querySelectorAll<HTMLInputElement>("input[type=hidden]:not([name=key])") ?? [], (field) => `${field.name}=${field.value}`);
  return [rowOf(e.closest("tr")), form?.getAttribute("action") ?? "", ...sent].join(" ");
}

/** reached are what keys reach without being typed into: links by their address, activities of a picture by their id, boxes by what they stand for, buttons by their text and what they act on. */
function reached(): Map<string, HTMLElement> {
  return named(main.querySelectorAll<HTMLElement>("a[href], input[type=checkbox], button, summary, [tabindex], [data-id]"), (e) => {
    if (e instanceof HTMLInputElement) return `${e.tagName} ${e.name} ${e.value}`;
    if (e.matches("button, summary")) return `${e.tagName} ${e.textContent ?? ""} ${actsOn(e)}`;
    return `${e.tagName} ${e.getAttribute("href") ?? e.getAttribute("data-id") ?? e.getAttribute("aria-label") ?? (e.textContent ?? "").slice(0, 100)}`;
  });
}

/** found tells how an element that has the focus is found again when the page was renewed. */
function found(at: Element): (() => HTMLElement | undefined) | null {
  for (const [name, e] of reached()) {
    if (e === at) return () => reached().get(name);
  }
  return null;
}

/** listen renews the page when the node says that something happened to what it shows. */
function listen(topics: string): void {
  let source: EventSource | null = null;
  const open = (): void => {
    if (source || document.hidden) return;
    source = new EventSource("/console/stream?topics=" + encodeURIComponent(topics));
    let first = true;
    const heard = (): void => {
      if (first) {
        first = false; // it tells what the page already shows
        say("live");
        return;
      }
      void renew();
    };
    for (const name of ["instance", "cluster", "definitions", "reset"]) source.addEventListener(name, heard);
    source.addEventListener("bye", () => say("the node ends; another one goes on", true));
    source.onerror = () => {
      say("not live; the browser asks again", true);
      if (source?.readyState === EventSource.CLOSED) {
        source = null;
        setTimeout(open, 5000);
      } else {
        void renew();
      }
    };
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else {
      open();
      void renew();
    }
  });
  open();
}

/** linked joins what belongs together: a line chooses its activity, an activity its lines, and a value can be copied. */
function linked(): void {
  for (const picture of main.querySelectorAll("[data-linked] .picture, [data-chooses]")) reachable(picture);
  if (navigator.clipboard) document.querySelectorAll<HTMLElement>("button[data-copy]").forEach((button) => { button.hidden = false; });
  marked(main);
}

document.addEventListener("click", (event) => {
  const button = (event.target as Element).closest<HTMLElement>("button[data-copy]");
  const text = button?.parentElement?.querySelector("pre")?.textContent;
  if (!button || text === null || text === undefined) return;
  navigator.clipboard.writeText(text).then(() => { button.textContent = "Copied"; }, () => { button.textContent = "The browser does not copy it"; });
});

main.addEventListener("click", (event) => {
  const line = (event.target as Element).closest<HTMLElement>("[data-linked] .line");
  const picture = line?.closest("[data-linked]")?.querySelector(".picture");
  if (line && picture) mark(picture, Number(line.id.slice(1)));
});
choosing(main);
onChoice(main, (line, picture) => {
  mark(picture, line);
  document.getElementById("L" + line)?.scrollIntoView({ block: "nearest" });
});
linked();
views(main);
selection(main);
main.addEventListener("change", () => chosen(main));
window.addEventListener("pageshow", () => chosen(main)); // who comes back finds the rows chosen as they were

/** mark chooses a line of a source and what it is in the picture. */
function mark(picture: Element, line: number): void {
  choose(picture, line);
  main.querySelectorAll(".line.chosen").forEach((l) => l.classList.remove("chosen"));
  document.getElementById("L" + line)?.classList.add("chosen");
}

/** rows are those that can be come to: neither what is folded away, nor a title among them. */
function rows(): HTMLTableRowElement[] {
  return Array.from(main.querySelectorAll<HTMLTableRowElement>("tbody tr")).filter((row) => inSight(row) && row.querySelector("td"));
}

/** step marks another row of a table. */
function step(by: number): void {
  const all = rows();
  if (all.length === 0) return;
  const at = all.findIndex((row) => row.classList.contains("here"));
  const to = Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + by));
  main.querySelectorAll("tr.here").forEach((row) => row.classList.remove("here"));
  all[to].classList.add("here");
  all[to].scrollIntoView({ block: "nearest" });
  const link = all[to].querySelector<HTMLAnchorElement>("a.id") ?? all[to].querySelector<HTMLAnchorElement>("a[href]");
  link?.focus({ preventScroll: true });
}

const places: Record<string, string> = {
  h: "", w: "waiting", i: "instances", d: "definitions", e: "events", t: "tasks", q: "queue", l: "dead-letters", c: "cluster", m: "me", a: "activities", s: "timers", j: "jobs", u: "audit",
};

let went = 0; // when g was pressed

document.addEventListener("keydown", (event) => {
  const at = event.target as HTMLElement;
  if ((event.ctrlKey || event.metaKey) && event.key === "k") {
    document.getElementById("find")?.focus();
    event.preventDefault();
    return;
  }
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (at.isContentEditable || at.closest("g[data-line]")) return; // the editor, and pictures, have keys of their own
  if (at.matches("input:not([type=checkbox]), textarea, select")) {
    if (event.key === "Escape") at.blur();
    return;
  }
  if (Date.now() - went < 1500 && event.key in places) {
    went = 0;
    location.href = "/console/" + places[event.key];
    return;
  }
  switch (event.key) {
    case "/":
      document.getElementById("find")?.focus();
      event.preventDefault();
      break;
    case "g":
      went = Date.now();
      break;
    case "?":
      location.href = "/console/me";
      break;
    case "j":
      step(1);
      break;
    case "k":
      step(-1);
      break;
    case "x":
      pick(main);
      break;
  }
});

// The zone of the browser is known to the browser alone.
const zone = document.querySelector<HTMLButtonElement>("button[data-zone]");
if (zone) {
  zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  zone.textContent = `As this browser: ${zone.value}`;
  zone.hidden = zone.value === "";
}

const topics = main.dataset["topics"];
const every = Number(main.dataset["every"] ?? "0");
if (topics) listen(topics);
else if (every > 0) say(`renewed every ${every} s`);
else say("", true);
if (every > 0) setInterval(() => void renew(), every * 1000);

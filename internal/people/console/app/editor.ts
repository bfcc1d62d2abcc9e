// The editor of definitions: a text with its mistakes in the margin, beside its picture, which
// is drawn again from what can be read. Without it the page has a plain field.

import { choose, inRoot, onChoice, reachable } from "./picture";

/* eslint-disable @typescript-eslint/no-explicit-any */
declare const CodeMirror: any; // ../codemirror
type View = any;

interface Problem { severity: string; detail: string; line?: number; column?: number; excerpt?: string }
interface Checked { id: string; version: number; problems: Problem[]; picture?: string }
interface Suggestion { label: string; kind: string; detail?: string; doc?: string; insert: string }
interface Suggested { from: number; items: Suggestion[]; word?: string; doc?: string }

const form = document.querySelector<HTMLFormElement>("form[data-editor]")!;
const field = form.querySelector<HTMLTextAreaElement>("textarea")!;
const over = form.querySelector<HTMLInputElement>("input[name=over]")!;
const own = form.querySelector<HTMLInputElement>("input[name=id]")!;
const picture = form.querySelector<HTMLElement>("[data-picture]")!;
const age = form.querySelector<HTMLElement>("[data-picture-age]")!;
const count = form.querySelector<HTMLElement>("[data-count]")!;
const list = form.querySelector<HTMLElement>("[data-problems]")!;
const mayAsk = form.dataset["editor"] === "live";
const nonce = document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "";

const { EditorView, EditorState, tags } = CodeMirror;

/** tell asks the node about the text. */
async function tell<T>(what: string, text: string, query = ""): Promise<T> {
  const answer = await fetch("/console/tell/" + what + query, { method: "POST", body: text, headers: { "Content-Type": "text/plain" }, credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.status === 401 ? "you are signed out: sign in on another tab, the text stays here" : "the node does not answer");
  return (await answer.json()) as T;
}

/** put makes an element with a text. */
function put<K extends keyof HTMLElementTagNameMap>(tag: K, text: string, into?: Element, name = ""): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  e.textContent = text;
  if (name) e.className = name;
  into?.append(e);
  return e;
}

/** placeOf is where a problem is underlined: the word at its place, or the rest of its line. */
function placeOf(doc: any, p: Problem): { from: number; to: number } {
  const line = doc.line(Math.min(doc.lines, Math.max(1, p.line ?? 1)));
  const from = Math.min(line.to, line.from + Math.max(0, (p.column ?? 1) - 1));
  const word = /^[^\s:,{}[\]]+/.exec(line.text.slice(from - line.from));
  const to = p.line ? Math.max(from + (word ? word[0].length : 0), Math.min(line.to, from + 1)) : line.to;
  return { from, to };
}

const part = form.querySelector<HTMLElement>("[data-part]")!;
const said = form.querySelector<HTMLElement>("[data-said]")!; // what was done, for those too who do not see it
let formOf: any = null; // the text that the form of an activity is of

let amends = 0; // how often the form was asked for

/** fields are the fields of the form of an activity; changed are those that somebody wrote in. */
const fields = (): HTMLInputElement[] => Array.from(part.querySelectorAll<HTMLInputElement>("[name]:not(button)"));
const begun = (f: HTMLInputElement | HTMLSelectElement): string => f instanceof HTMLSelectElement ? (Array.from(f.options).find((o) => o.defaultSelected) ?? f.options[0])?.value ?? "" : f.defaultValue;
const changed = (): HTMLInputElement[] => fields().filter((f) => !f.name.startsWith("e.") && f.value !== begun(f));

/** value is that of a field. */
const value = (name: string): string | undefined => fields().find((f) => f.name === name)?.value;

/** isFresh tells whether a field is of what a button adds: a case, a state or a transition. */
function isFresh(name: string, button: string): boolean {
  const [op, what, of] = button.split(" ");
  if (op !== "insert") return false;
  if (what === "case") return /^n\.(label|when)$/.test(name);
  return what === "state" ? name === "n.name" : what === "transition" && name.endsWith("." + of);
}

/** amend asks the node for an edit of the text by an activity of the picture, or only for its form. Who was in the form is there afterwards too, or enters it. */
async function amend(asked: FormData, enter = false): Promise<void> {
  const turn = ++amends;
  const doc = view.state.doc;
  asked.set("source", doc.toString());
  part.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch("/console/amend", { method: "POST", body: new URLSearchParams(asked as any), headers: { Accept: "application/json" }, credentials: "same-origin" });
    if (!answer.ok || !answer.headers.get("Content-Type")?.startsWith("application/json")) throw new Error(answer.status === 401 ? "you are signed out: sign in on another tab, the text stays here" : "the node does not answer");
    const got = (await answer.json()) as { text: string; part: string; refused: boolean; line: number; done: string };
    if (view.state.doc !== doc) { // the answer is about a text that is gone
      if (asked.has("e.op")) said.textContent = "Not edited: the text changed meanwhile; do it again.";
      return;
    }
    if (turn !== amends && !asked.has("e.op")) return; // another one was chosen since
    const at = document.activeElement as HTMLElement;
    const was = part.contains(at) ? [at.getAttribute("name"), at.getAttribute("value")] : null;
    const whose = value("e.activity");
    const which = value("e.was");
    const typed = changed().filter((f) => got.refused || f.name.startsWith("n.") && !isFresh(f.name, String(asked.get("e.op")))).map((f) => [f.name, f.value]);
    replaceBy(got.text);
    part.innerHTML = got.part; // the node made it, with all texts escaped
    for (const [name, text] of typed) {
      if (whose !== value("e.activity") || /^[cs]\./.test(name) && which !== value("e.was")) continue; // it is another one by that name; a refusal says what was typed
      fields().filter((f) => f.name === name).forEach((f) => { f.value = text; });
    }
    formOf = view.state.doc;
    if (got.line > 0) go(got.line, 1, false);
    if (asked.has("e.op")) said.textContent = got.done;
    if (!was && !enter) return;
    const same = was && Array.from(part.querySelectorAll<HTMLButtonElement>("[name]")).find((e) => e.name === was[0] && (e.name !== "e.op" || e.value === was[1]) && !e.disabled);
    const stays = !asked.has("e.op") || whose === value("e.activity") || asked.get("e.op") === "set";
    const refusal = got.refused ? part.querySelector<HTMLElement>(".wrong") : null;
    (refusal ?? (stays ? same : null) ?? (enter ? part.querySelector<HTMLElement>("h2") : null) ?? said).focus();
  } catch (err) {
    said.textContent = "Not edited: " + (err as Error).message + ".";
  } finally {
    if (turn === amends) part.removeAttribute("aria-busy");
  }
}

/** replaceBy changes the text in one step that can be undone, and only where it differs. */
function replaceBy(text: string): void {
  const old = view.state.doc.toString() as string;
  if (old === text) return;
  let from = 0;
  while (from < old.length && from < text.length && old[from] === text[from]) from++;
  let end = 0;
  while (end < old.length - from && end < text.length - from && old[old.length - 1 - end] === text[text.length - 1 - end]) end++;
  view.dispatch({ changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) }, userEvent: "input.edit" });
}

/** unapplied asks before what somebody wrote in the form of an activity is given up. */
const unapplied = (): boolean => changed().length > 0 && !confirm("What you wrote in the form of the activity is not applied. Go on without it?");

/** pick chooses an activity: its form stands below the picture, and who comes by keys enters it. */
function pick(id: string, line: number, enter = false): void {
  if (!mayAsk || !id || unapplied()) return;
  const asked = new FormData();
  asked.set("e.activity", id);
  asked.set("e.line", String(line));
  void amend(asked, enter);
}

/** box is the activity of the picture that is chosen. */
const box = (): SVGGElement | null => picture.querySelector("g.selected[data-line]") ?? picture.querySelector("g[data-line][tabindex='0']");

/** renewed shows the form of what is chosen now, if the text changed beside it and nobody writes in it. */
function renewed(): void {
  const chosen = picture.querySelector("g.selected[data-line]");
  if (!formOf || formOf === view.state.doc || !chosen || !part.querySelector("h2") || changed().length > 0 || part.hasAttribute("aria-busy")) return;
  pick(chosen.getAttribute("data-id") ?? "", Number(chosen.getAttribute("data-line")));
}

// One history for what is typed and for edits of the picture: that of the text.
const command = (key: string): any => CodeMirror.historyKeymap.find((binding: any) => binding.key === key).run;
const undo = command("Mod-z");
const redo = command("Mod-y");
const past = form.querySelector<HTMLElement>("[data-history]")!;

/** recount enables undo and redo where there is something to undo or to do again. */
function recount(): void {
  for (const [name, run] of [["undo", undo], ["redo", redo]]) {
    const button = past.querySelector<HTMLButtonElement>(`[data-${name}]`)!;
    const none = !run({ state: view.state, dispatch: () => undefined });
    if (none && document.activeElement === button) said.focus(); // a disabled button would lose it
    button.disabled = none;
  }
}

let asked = 0; // how often the text was looked at: an answer to an older text is dropped

async function check(): Promise<void> {
  const turn = ++asked;
  const doc = view.state.doc;
  const text = doc.toString();
  if (text.trim() === "") {
    count.textContent = "Nothing is written yet.";
    list.replaceChildren();
    view.dispatch(CodeMirror.setDiagnostics(view.state, []));
    return;
  }
  let found: Checked;
  try {
    found = await tell<Checked>("checkDefinition", text, "?picture=true");
  } catch (err) {
    if (turn === asked) count.textContent = "Not checked: " + (err as Error).message + ".";
    return;
  }
  if (turn !== asked || view.state.doc !== doc) return;
  show(found);
}

/** show puts what was found beside the text. */
function show(found: Checked): void {
  const doc = view.state.doc;
  const wrong = found.problems.filter((p) => p.severity !== "warning").length;
  if (wrong > 0) count.textContent = `${wrong} to mend.`;
  else if (found.version <= Number(over.value) && found.id === own.value) count.textContent = `It is as version ${found.version} of ${found.id}.`;
  else count.textContent = `It can be published, as version ${found.version} of ${found.id}.`;
  list.replaceChildren(...found.problems.map((p) => {
    const item = put("li", "", undefined, p.severity);
    if (p.line) {
      const link = put("a", `line ${p.line}`, item);
      link.href = "#source";
      link.dataset["line"] = String(p.line);
      link.dataset["column"] = String(p.column ?? 1);
      item.append(" ");
    }
    item.append(p.detail);
    return item;
  }));
  view.dispatch(CodeMirror.setDiagnostics(view.state, found.problems.map((p) => ({
    ...placeOf(doc, p), severity: p.severity === "warning" ? "warning" : "error", message: p.detail,
  }))));
  if (found.picture) {
    const at = [picture.scrollLeft, picture.scrollTop];
    const was = picture.contains(document.activeElement) ? document.activeElement!.getAttribute("data-id") : null;
    picture.innerHTML = found.picture; // the node made it, with all texts escaped
    [picture.scrollLeft, picture.scrollTop] = at;
    age.textContent = "";
    reachable(picture);
    follow();
    if (was !== null) (picture.querySelector<SVGGElement>(`g[data-line][data-id="${CSS.escape(was)}"]`) ?? box() ?? picture).focus({ preventScroll: true });
    renewed();
  } else {
    age.textContent = "of an earlier text: this one cannot be read";
  }
}

/** follow chooses in the picture what the cursor is in. */
function follow(): void {
  const doc = view.state.doc;
  const line = doc.lineAt(view.state.selection.main.head).number as number;
  choose(picture, inRoot((n) => doc.line(n).text as string, line) ? line : 0);
}

function go(line: number, column: number, focus = true): void {
  const doc = view.state.doc;
  const at = doc.line(Math.min(doc.lines, Math.max(1, line)));
  const to = Math.min(at.to, at.from + Math.max(0, column - 1));
  view.dispatch({ selection: { anchor: to }, effects: EditorView.scrollIntoView(to, { y: "center" }) });
  if (focus) view.focus();
}

/** placeQuery is a place of the text as the node counts: lines and characters from 1. */
function placeQuery(state: any, at: number): string {
  const line = state.doc.lineAt(at);
  const column = Array.from(line.text.slice(0, at - line.from) as string).length + 1;
  return `?line=${line.number}&column=${column}`;
}

const kinds: Record<string, string> = { type: "class", key: "property", value: "enum", variable: "variable", function: "function", outcome: "constant" };

async function complete(context: any): Promise<any> {
  const before = context.matchBefore(/[\w.$]*$/);
  const line = context.state.doc.lineAt(context.pos);
  const written = line.text.slice(0, context.pos - line.from) as string;
  if (!context.explicit && before.from === before.to && !/(: |- |\$\{\{ )$/.test(written)) return null;
  const found = await tell<Suggested>("suggest", context.state.doc.toString(), placeQuery(context.state, context.pos)).catch(() => null);
  if (!found || context.aborted || found.items.length === 0) return null;
  return {
    from: line.from + Array.from(line.text as string).slice(0, found.from - 1).join("").length,
    options: found.items.map((it, i) => ({
      label: it.label, type: kinds[it.kind], detail: it.detail, boost: -i / 10,
      apply: it.insert, info: it.doc ? () => put("div", it.doc!, undefined, "about") : undefined,
    })),
    validFor: /^[\w.$]*$/,
  };
}

async function about(v: View, at: number): Promise<any> {
  const found = await tell<Suggested>("suggest", v.state.doc.toString(), placeQuery(v.state, at)).catch(() => null);
  if (!found?.doc) return null;
  const word = v.state.wordAt(at);
  return { pos: word?.from ?? at, end: word?.to ?? at, above: true, create: () => ({ dom: put("div", found.doc!, undefined, "about") }) };
}

/** moved keeps what stands beside the text in step with a change of it. */
function moved(update: any): void {
  recount();
  for (const [event, text] of [["undo", "Undone"], ["redo", "Done again"]]) {
    if (update.transactions.some((t: any) => t.isUserEvent(event))) said.textContent = `${text}: line ${update.state.doc.lineAt(update.state.selection.main.head).number}.`;
  }
  const at = part.querySelector<HTMLInputElement>("input[name='e.line']");
  if (!at) return;
  const old = update.startState.doc;
  const from = old.line(Math.min(old.lines, Math.max(1, Number(at.value)))).from;
  at.value = String(update.state.doc.lineAt(update.changes.mapPos(from, 1)).number);
}

let timer = 0;
let sent = false;
const unkept = form.dataset["unkept"] !== undefined; // the text came back from a check or a refusal

const looks = EditorView.theme({
  "&": { fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "2px solid var(--link)" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace' },
  ".cm-gutters": { background: "var(--page)", color: "var(--quiet)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "var(--line-here, light-dark(#f4f2ec, #24282d))" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "light-dark(#cfe4ec, #2c4a57)" },
  ".cm-tooltip, .cm-panels": { background: "var(--box)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--main)", color: "var(--on-main)" },
  ".cm-completionDetail": { color: "var(--quiet)", fontStyle: "normal", marginLeft: "1em" },
  "li[aria-selected] .cm-completionDetail": { color: "var(--on-main)" },
  ".about": { whiteSpace: "pre-wrap", maxWidth: "32rem", maxHeight: "18rem", overflow: "auto", padding: "0.4rem 0.6rem" },
  ".cm-tooltip-autocomplete": { maxWidth: "90vw" },
  ".cm-diagnostic": { borderLeftWidth: "4px" },
  ".cm-textfield, .cm-button": { background: "var(--page)", color: "var(--text)", backgroundImage: "none" },
});

const colours = CodeMirror.HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--quiet)" },
  { tag: [tags.keyword, tags.labelName, tags.typeName, tags.meta], color: "var(--wait)" },
]);

const view: View = new EditorView({
  state: EditorState.create({
    doc: field.value,
    extensions: [
      EditorView.cspNonce.of(nonce),
      CodeMirror.lineNumbers(), CodeMirror.lintGutter(), CodeMirror.foldGutter(), CodeMirror.history(), CodeMirror.drawSelection(),
      CodeMirror.indentOnInput(), CodeMirror.bracketMatching(), CodeMirror.closeBrackets(), CodeMirror.highlightActiveLine(), CodeMirror.highlightActiveLineGutter(),
      CodeMirror.highlightSelectionMatches(), CodeMirror.indentUnit.of("  "), EditorState.tabSize.of(2), EditorView.lineWrapping,
      CodeMirror.yaml(), CodeMirror.syntaxHighlighting(colours), looks,
      CodeMirror.autocompletion({ override: mayAsk ? [complete] : [], icons: false }),
      mayAsk ? CodeMirror.hoverTooltip(about) : [],
      EditorState.readOnly.of(!mayAsk),
      EditorView.contentAttributes.of({ "aria-label": "Source", spellcheck: "false", tabindex: "0" }),
      CodeMirror.keymap.of([
        ...CodeMirror.closeBracketsKeymap, ...CodeMirror.defaultKeymap, ...CodeMirror.searchKeymap, ...CodeMirror.historyKeymap,
        ...CodeMirror.foldKeymap, ...CodeMirror.completionKeymap, ...CodeMirror.lintKeymap,
      ]),
      EditorView.updateListener.of((update: any) => {
        if (update.docChanged) {
          field.value = update.state.doc.toString();
          clearTimeout(timer);
          if (mayAsk) timer = window.setTimeout(() => void check(), 300);
        }
        if (update.docChanged || update.selectionSet) follow();
        if (update.docChanged) moved(update);
      }),
    ],
  }),
});

field.before(view.dom);
field.hidden = true;
field.required = false; // a browser cannot show what is wrong with a hidden field; the node does
form.classList.add("written");
form.addEventListener("submit", () => { sent = true; });
window.addEventListener("pageshow", () => { sent = false; });
window.addEventListener("beforeunload", (event) => {
  if (!sent && (unkept || changed().length > 0 || view.state.doc.toString() !== field.defaultValue)) event.preventDefault();
});
list.addEventListener("click", (event) => {
  const link = (event.target as Element).closest<HTMLElement>("a[data-line]");
  if (!link) return;
  event.preventDefault();
  go(Number(link.dataset["line"]), Number(link.dataset["column"] ?? "1"));
});
onChoice(form, (line, _, id, byKey) => {
  go(line, 1, !byKey || !mayAsk); // who comes by keys goes on from the picture to the form
  pick(id, line, byKey);
});
form.addEventListener("submit", (event) => {
  const button = event.submitter;
  const apply = !part.contains(button) && part.contains(document.activeElement) && part.querySelector("[data-apply]"); // Enter in a field
  if (!part.contains(button) && !apply && !unapplied()) return;
  event.preventDefault();
  sent = false;
  if (!part.contains(button) && !apply) return;
  const asked = new FormData();
  for (const field of fields()) if (!/^[fcs]\./.test(field.name) || field.value !== begun(field)) asked.set(field.name, field.value);
  asked.set("e.op", apply ? "set" : (button as HTMLButtonElement).value);
  void amend(asked);
});
past.addEventListener("click", (event) => {
  const button = (event.target as Element).closest("button");
  if (button) (button.matches("[data-undo]") ? undo : redo)(view);
});
form.addEventListener("keydown", (event) => {
  const at = event.target as HTMLInputElement;
  if (event.defaultPrevented || view.dom.contains(at)) return;
  if (event.key === "Escape" && part.contains(at)) return box()?.focus();
  if (!mayAsk || event.altKey || !(event.ctrlKey || event.metaKey) || at.matches("input, textarea") && at.value !== at.defaultValue) return;
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return;
  event.preventDefault();
  (key === "y" || event.shiftKey ? redo : undo)(view);
});
reachable(picture);
past.hidden = !mayAsk;
if (mayAsk) void check();

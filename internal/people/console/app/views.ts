// Views of the list of instances that a person has named. A view is its address, and can be
// sent; that it has a name here is kept by this browser, and the node knows nothing of it.

const place = "weft-views";
const most = 20;

interface View {
  name: string;
  q: string;
  columns?: string;
}

/** read gives the views that are kept; none where the browser keeps nothing. */
function read(): View[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(place) ?? "[]");
    if (!Array.isArray(all)) return [];
    return all.filter((v): v is View => typeof v?.name === "string" && typeof v?.q === "string").slice(0, most);
  } catch {
    return [];
  }
}

/** keep tells whether the browser has kept them. */
function keep(all: View[]): boolean {
  try {
    localStorage.setItem(place, JSON.stringify(all));
    return true;
  } catch {
    return false;
  }
}

function element<K extends keyof HTMLElementTagNameMap>(tag: K, text: string, attributes: Record<string, string> = {}): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  e.textContent = text;
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
}

/** views shows those that are kept, and takes the one of this page. */
export function views(main: HTMLElement): void {
  const box = main.querySelector<HTMLElement>("[data-views]");
  if (!box) return;
  const q = box.dataset["views"] ?? "";
  const columns = box.dataset["columns"] ?? "";
  const all = read();
  const chips = element("p", "", { class: "chips" });
  for (const view of all) {
    const link = element("a", view.name, {
      href: "/console/instances?" + new URLSearchParams(view.columns ? { q: view.q, columns: view.columns } : { q: view.q }).toString(),
      title: view.q,
    });
    if (view.q === q && (view.columns ?? "") === columns) link.setAttribute("aria-current", "true");
    const gone = element("button", "✕", { type: "button", class: "small", "aria-label": "Forget the view " + view.name });
    gone.addEventListener("click", () => {
      keep(read().filter((v) => v.name !== view.name));
      views(main);
    });
    chips.append(link, gone);
  }
  const form = element("form", "", { class: "query" });
  const label = element("label", "Name ");
  const name = element("input", "", { required: "", maxlength: "40", autocomplete: "off" });
  label.append(name);
  form.append(label, element("button", "Keep"));
  const said = element("p", "In this browser only. A view is its address: send that to others.", { class: "quiet" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const others = read().filter((v) => v.name !== name.value);
    if (others.length >= most) said.textContent = `There are ${most} views already; forget one.`;
    else if (keep([...others, columns === "" ? { name: name.value, q } : { name: name.value, q, columns }])) views(main);
    else said.textContent = "This browser keeps nothing for this page.";
  });
  const more = element("details", "") // while it is open the page does not renew itself;
  more.append(element("summary", "Name this view…"), form, said);
  box.replaceChildren(...(all.length > 0 ? [chips] : []), ...(q !== "" || columns !== "" ? [more] : []));
}

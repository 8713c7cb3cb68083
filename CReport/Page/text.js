// Elements and texts. Whatever comes from the program becomes a text node, never HTML.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter(child => child || child === 0));
  return element;
}

const find = id => document.getElementById(id);
const soft = (...children) => make("span", { class: "soft" }, ...children);
const chip = (text, onclick, title) => make("button", { class: "link", onclick, title }, text);
const count = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

function duration(microseconds) {
  const digits = n => n.toFixed(n < 10 ? 2 : n < 100 ? 1 : 0);
  if (microseconds < 1000) return `${Math.round(microseconds)} µs`;
  if (microseconds < 1e6) return `${digits(microseconds / 1e3)} ms`;
  if (microseconds < 60e6) return `${digits(microseconds / 1e6)} s`;
  return `${Math.floor(microseconds / 60e6)} min ${Math.floor(microseconds / 1e6) % 60} s`;
}

const seconds = microseconds => `${(microseconds / 1e6).toFixed(3)} s`;

// Characters that cannot be seen, or that change the direction of text, are written as numbers.
function shorten(text, length = 300) {
  const short = text.length > length ? text.slice(0, length) + "…" : text;
  return short.replace(/[\0-\x08\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    character => `\\u{${character.charCodeAt().toString(16)}}`);
}

// ".name" or "[1]", as a Lua program writes it.
function keyText(key) {
  if (typeof key === "string" && /^[A-Za-z_]\w*$/.test(key)) return "." + key;
  return `[${valueText(key)}]`;
}

function valueText(value) {
  if (value === null || value === undefined) return "nil";
  if (typeof value === "string") return shorten(JSON.stringify(value));
  if (typeof value !== "object") return String(value);
  if ("o" in value) return `${value.t ?? "object"} ${value.o}`;
  if ("x" in value) return String(value.x);
  if (value.hidden) return "hidden";
  if ("n" in value) return String(value.n);
  if ("b" in value) return `bytes ${shorten(String(value.b))}`;
  if (value.u) return "unknown";
  return shorten(JSON.stringify(value));
}

// `o` is the object that the value named when it was read or written.
function valueElement(value, o) {
  if (o !== undefined) return objectLink(o);
  const type = value === null ? "nil" : typeof value;
  const isText = type === "string" || type === "number" || type === "boolean";
  return make("code", { class: isText ? type : "soft" }, valueText(value));
}

const objectText = o => {
  const object = page.recording.objects.get(o);
  return o ? `${shorten(object?.name ?? "object", 60)} #${o}` : "unknown object";
};
const objectLink = o => o
  ? chip(objectText(o), () => details.show("object", o))
  : soft("unknown object");
const watcherLink = w => chip(
  shorten(page.recording.watchers.get(w)?.name ?? `watcher ${w}`, 80),
  () => details.show("watcher", w), page.recording.watchers.get(w)?.place);
const propertyLink = p => chip(
  shorten(page.recording.properties.get(p)?.name ?? `property ${p}`, 80),
  () => details.show("property", p));
const turnLink = turn => chip(`turn ${turn.number}`, () => {
  page.select(turn.index);
  find("turn-title").scrollIntoView({ block: "nearest" });
});

// A place in the source. It unfolds the lines around it, if the page has the file.
function placeElement(place) {
  if (!place) return undefined;
  const [, file, line] = /^(.*):(\d+)$/s.exec(place) ?? [];
  const source = Object.hasOwn(page.files, file) ? page.files[file] : undefined;
  if (source === undefined) return make("span", { class: "place" }, shorten(place));
  const button = make("button", {
    class: "link place", "aria-expanded": "false",
    onclick: () => {
      const isOpen = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!isOpen));
      const row = button.closest(".row") ?? button.parentElement;
      if (isOpen) row.querySelector(".source").remove();
      else {
        row.querySelector(".source")?.remove();
        row.append(sourceElement(source, Number(line)));
      }
    },
  }, shorten(place));
  return button;
}

function sourceElement(source, line) {
  const lines = source.split("\n"), first = Math.max(1, line - 3);
  return make("pre", { class: "source" }, lines.slice(first - 1, line + 3).map((text, i) =>
    make(first + i === line ? "mark" : "span", {},
      `${String(first + i).padStart(5)}  ${shorten(text, 400)}\n`)));
}

// Fills a container with `size` items of an iterator. Returns it and a button for more.
function pages(container, items, size = 200) {
  const button = make("button", { class: "more", onclick: () => extend(true) }, "Show more");
  let next = items.next();
  const extend = byHand => {
    const first = next.value;
    for (let i = 0; i < size && !next.done; i++, next = items.next()) container.append(next.value);
    button.hidden = next.done;
    if (byHand) first.querySelector("button")?.focus({ preventScroll: true });
  };
  extend(false);
  return [container, button];
}

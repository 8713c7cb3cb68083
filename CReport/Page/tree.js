// The state after the selected turn. A row is found again by its path, so that what is open stays
// open from turn to turn. Contents are only made when their row is open: cycles end there.
const tree = {
  open: new Map(),
  focused: undefined,
  rows: [],

  start() {
    find("tree").addEventListener("keydown", event => this.key(event));
    find("show-changes").addEventListener("click", () => this.openChanges());
    find("close-all").addEventListener("click", () => {
      for (const row of this.rows) this.open.set(row.path, false);
      this.render();
    });
  },

  show(digest) {
    this.state = digest.after;
    this.changed = digest.changed;
    const { roots, parents } = this.state.outline();
    Object.assign(this, { roots, parents });
    this.above = new Set();
    for (const o of this.changed.keys()) {
      for (let at = o; at !== undefined && !this.above.has(at); at = parents.get(at)?.o) {
        this.above.add(at);
      }
    }
    find("state-facts").textContent = `${count(this.state.objects.size, "observed object")}, ` +
      `${count(this.changed.size, "object")} changed in this turn`;
    this.render();
  },

  isOpen(path, depth) {
    return this.open.get(path) ?? (depth === 0 && this.roots.length <= 8);
  },

  // The keys from a root to an object.
  pathTo(o) {
    const keys = [];
    for (let at = this.parents.get(o); at; at = this.parents.get(at.o)) {
      keys.unshift(at.key);
      o = at.o;
    }
    return { root: o, keys };
  },

  openChanges() {
    for (const o of this.changed.keys()) this.openTo(o);
    this.render();
    find("tree").querySelector(".changed")?.scrollIntoView({ block: "nearest" });
  },

  openTo(o) {
    const { root, keys } = this.pathTo(o);
    let path = String(root);
    this.open.set(path, true);
    for (const key of keys) this.open.set(path += "/" + JSON.stringify(key), true);
    return path;
  },

  // Opens the rows above an object and scrolls to it.
  focus(o) {
    this.focused = this.openTo(o);
    this.render();
    this.element(this.focused)?.scrollIntoView({ block: "center" });
  },

  render() {
    const hadFocus = find("tree").contains(document.activeElement);
    this.rows = [];
    for (const o of this.roots.slice(0, this.limit("roots", 200))) this.branch(o, String(o), 0, []);
    this.more("roots", this.roots.length, 200, 0);
    find("tree").replaceChildren(...this.rows.map(row => this.draw(row)));
    if (this.rows.length === 0) find("tree").append(notice("No object is observed at this time."));
    const row = this.rows.find(row => row.path === this.focused) ?? this.rows[0];
    this.mark(row, hadFocus);
  },

  limits: new Map(),
  limit(path, size) { return this.limits.get(path) ?? size; },
  more(path, length, size, depth) {
    const rest = length - this.limit(path, size);
    if (rest > 0) this.rows.push({ path: path + "/more", depth, more: path, rest, size });
  },

  branch(o, path, depth, ancestors, key) {
    if (this.rows.length > 5000) return;
    const isCycle = ancestors.includes(o);
    const row = { path, depth, key, o, isCycle, isOpen: !isCycle && this.isOpen(path, depth) };
    this.rows.push(row);
    if (!row.isOpen || this.rows.length > 5000) return row;
    const record = this.state.objects.get(o), inside = [...ancestors, o];
    const entries = [...this.state.entries(o)], size = 100, changed = this.changed.get(o);
    const removed = [...changed ?? []].filter(id => this.state.value(o, keyFrom(id)) === undefined);
    entries.push(...removed.map(id => [id, null]));
    entries.splice(record.list.length, Infinity, ...entries.slice(record.list.length).sort(byKey));
    for (const [id, value] of entries.slice(0, this.limit(path, size))) {
      const child = this.state.target(value), at = path + "/" + JSON.stringify(id);
      if (child === undefined) this.rows.push({ path: at, depth: depth + 1, key: id, value });
      const added = child === undefined ? this.rows.at(-1)
        : this.branch(child, at, depth + 1, inside, id);
      added.isChanged = changed?.has(id);
    }
    this.more(path, entries.length, size, depth + 1);
    for (const [p, { value, isValid }] of record.computed) {
      const property = page.recording.properties.get(p);
      this.rows.push({
        path: `${path}/computed ${p}`, depth: depth + 1, key: property?.name ?? p, value,
        note: isValid ? "computed" : value?.u ? "not computed" : "computed, no longer valid",
      });
    }
    if (entries.length === 0 && record.computed.size === 0) {
      const words = record.isKnown ? "empty" : "contents unknown";
      this.rows.push({ path: path + "/empty", depth: depth + 1, note: words });
    }
    return row;
  },

  draw(row) {
    const isBranch = row.o !== undefined && !row.isCycle;
    const element = make("div", {
      class: `item${row.isChanged ? " changed" : ""}`, role: "treeitem", tabindex: "-1",
      "aria-level": row.depth + 1, "aria-expanded": isBranch ? String(row.isOpen) : undefined,
      onclick: event => {
        if (event.target.closest("button")) return;
        this.mark(row, true);
        this.act(row);
      },
    },
    make("span", { class: "caret", "aria-hidden": "true" }, isBranch ? row.isOpen ? "▾" : "▸" : ""),
    row.key !== undefined && make("span", { class: "key" }, this.label(keyFrom(row.key)), ": "),
    row.more && make("span", { class: "soft" }, `${row.rest.toLocaleString("en")} more`),
    row.o !== undefined && objectLink(row.o),
    row.value !== undefined && valueElement(row.value),
    row.isCycle && soft(" is shown further up"),
    row.note && soft(row.key === undefined ? row.note : ` ${row.note}`),
    row.o !== undefined && !row.isOpen && !row.isChanged && this.above.has(row.o) &&
      make("span", { class: "dot", title: "Changes inside" }, " ●"));
    element.querySelector("button")?.setAttribute("tabindex", "-1");
    element.style.setProperty("--depth", Math.min(row.depth, 30));
    row.element = element;
    return element;
  },

  label(key) {
    return typeof key === "string" && /^[A-Za-z_]\w*$/.test(key) ? key : `[${valueText(key)}]`;
  },

  element(path) { return this.rows.find(row => row.path === path)?.element; },

  mark(row, withFocus) {
    if (!row) return;
    this.element(this.focused)?.setAttribute("tabindex", "-1");
    this.focused = row.path;
    row.element.setAttribute("tabindex", "0");
    if (withFocus) row.element.focus({ preventScroll: false });
  },

  act(row, isOpen = !row.isOpen) {
    if (row.more) this.limits.set(row.more, this.limit(row.more, row.size) + 500);
    else if (row.o !== undefined && !row.isCycle) this.open.set(row.path, isOpen);
    else return;
    this.render();
  },

  key(event) {
    const at = this.rows.findIndex(row => row.path === this.focused), row = this.rows[at];
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    const isBranch = row.o !== undefined && !row.isCycle;
    const acts = {
      ArrowDown: () => this.mark(this.rows[at + 1], true),
      ArrowUp: () => this.mark(this.rows[at - 1], true),
      ArrowRight: () => isBranch && !row.isOpen ? this.act(row, true)
        : this.mark(this.rows[at + 1], true),
      ArrowLeft: () => isBranch && row.isOpen ? this.act(row, false)
        : this.mark(this.rows.slice(0, at).findLast(above => above.depth < row.depth), true),
      Home: () => this.mark(this.rows[0], true),
      End: () => this.mark(this.rows.at(-1), true),
      " ": () => this.act(row),
      Enter: () => row.o !== undefined ? details.show("object", row.o) : this.act(row),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  },
};

function byKey([a], [b]) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : 1;
}

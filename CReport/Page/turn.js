// The events of the selected turn, in order; calls are indented by how deep they are nested.
const turnView = {
  show(digest) {
    const { turn, rows } = digest;
    const facts = [
      turn.writes && count(turn.writes, "write"), turn.calls && count(turn.calls, "call"),
      turn.equal && count(turn.equal, "equal write"), turn.errors && count(turn.errors, "error"),
    ].filter(Boolean);
    find("turn-title").textContent = turn.number ? `Turn ${turn.number}` : "Before the first turn";
    find("turn-facts").replaceChildren(...[
      make("b", {}, turn.kind), " ", placeElement(page.recording.text(turn.place)),
      soft(` at ${seconds(turn.time)}, `,
        turn.hasEnded ? `took ${duration(turn.end - turn.time)}` : "has no end",
        facts.length ? `: ${facts.join(", ")}` : "")].filter(Boolean));
    const list = make("ol", { class: "rows" });
    if (turn.isPartial) list.append(notice("Too many events: only the first are kept."));
    if (rows.length === 0) list.append(notice("Nothing observed happened in this turn."));
    find("turn-rows").replaceChildren(
      ...pages(list, rows.values().map(row => this.row(row, digest)), 300));
  },

  row(row, digest) {
    const [badge, kind, content, right] = this.parts(row, digest);
    const element = make("li", { class: `row ${kind}` },
      make("span", { class: "badge" }, badge),
      make("span", { class: "content" }, content),
      right === undefined ? "" : make("span", { class: "right" }, right));
    element.style.setProperty("--depth", Math.min(row.depth, 8));
    return element;
  },

  // [badge, class, content, what stands at the right]
  parts(row, digest) {
    const { event } = row;
    const text = id => page.recording.text(id);
    const change = (before, after) => [
      " ", valueElement(before, row.before), make("span", { class: "arrow" }, " → "),
      valueElement(after, row.after ?? digest.after.target(after))];
    const list = (items, link) => items.flatMap((item, i) => i ? [", ", link(item)] : [link(item)]);
    switch (event[0]) {
      case "flush": return [`flush ${event[1]}`, "flush", ""];
      case "write": {
        const [, n, o, key, before, after, place] = event;
        return ["write", "write", [objectLink(o), make("b", {}, keyText(key)),
          change(before, after), this.called(n, digest)], placeElement(text(place))];
      }
      case "edit": {
        const [, n, o, operation, position, value, place] = event;
        if (operation === "all") {
          const size = Array.isArray(value) ? count(value.length, "element") : "other elements";
          return ["edit", "write", [objectLink(o), soft(` has ${size} now`), this.called(n, digest)],
            placeElement(text(place))];
        }
        const what = operation === "replace" ? change(row.old, value)
          : [" ", make("span", { class: "arrow" }, operation === "insert" ? "+ " : "− "),
            valueElement(value, row.after ?? digest.after.target(value))];
        return [operation, "write", [objectLink(o), make("b", {}, keyText(position)), what,
          this.called(n, digest)], placeElement(text(place))];
      }
      case "equal": {
        const [, o, key, place, times] = event;
        return ["equal", "quiet", [objectLink(o), make("b", {}, keyText(key)),
          soft(` already had this value: ${count(times, "write")}`)], placeElement(text(place))];
      }
      case "call": {
        const causes = event[2].filter(n => n > 0), rest = -event[2].find(n => n < 0) || 0;
        return ["call", "call", [
          watcherLink(event[1]), " ", this.observed(event[1]),
          causes.length > 0 && make("span", { class: "line" }, soft("because of "),
            list(causes, n => this.cause(n, digest)), rest > 0 && soft(` and ${rest} more`))],
        [row.duration === undefined ? soft("no return") : duration(row.duration), " ",
          placeElement(page.recording.watchers.get(event[1])?.place)]];
      }
      case "compute": {
        const [, p, before, after, , time, outcome] = event;
        const property = page.recording.properties.get(p);
        const failed = outcome === "failed";
        return [failed ? "failed" : "compute", failed ? "error" : "compute",
          [property?.object && [objectLink(property.object), "."], propertyLink(p),
            failed ? " the getter failed" : change(before, after),
            outcome === "equal" && soft(" equal")],
          [duration(time), " ", placeElement(property?.place)]];
      }
      case "invalid":
        return ["invalid", "compute quiet", [list(row.group, ([, p]) => propertyLink(p)),
          soft(" by "), this.cause(event[2], digest)]];
      case "unchanged":
        return ["not called", "quiet", [watcherLink(event[1]), soft(" its values are equal")]];
      case "error":
        return ["error", "error", [make("span", { class: "message" }, shorten(event[1], 4000)),
          event[3] ? [" ", watcherLink(event[3])] : ""], placeElement(text(event[2]))];
      case "object":
        return ["first seen", "quiet", list(row.group, ([, o]) => objectLink(o))];
      case "gone":
        return ["gone", "quiet", list(row.group, ([, o]) => objectLink(o))];
      case "watcher":
        return ["observe", "call quiet", [watcherLink(event[1]), soft(" watches "),
          objectLink(event[4]), " ", make("code", {}, text(event[5]))],
        placeElement(text(event[3]))];
      case "stop": return ["stop", "quiet", list(row.group, ([, w]) => watcherLink(w))];
      case "lazy":
        return ["lazy", "compute quiet", [objectLink(event[4]), ".", propertyLink(event[1])],
          placeElement(text(event[3]))];
      case "timer":
        return ["timer", "quiet",
          soft(`number ${event[1]}: ${event[4] ? "every" : "in"} ${event[2]} s`),
          placeElement(text(event[3]))];
      case "task":
        return ["task", "quiet", soft(`number ${event[1]} begins`), placeElement(text(event[2]))];
      case "timerend": return ["timer", "quiet", soft(`number ${event[1]} ends`)];
      case "taskend": return ["task", "quiet", soft(`number ${event[1]} ends`)];
      case "input":
        return ["outside", "quiet", list(row.group, ([, kind, about]) =>
          make("code", {}, about === null ? kind : `${kind} ${shorten(about, 60)}`))];
      case "break":
        return ["calls", "call quiet", make("pre", { class: "calls" }, shorten(event[2], 4000))];
      case "cannot": return ["no replay", "error", make("span", { class: "message" }, event[1])];
      case "missed":
        return ["gap", "error", `${count(event[1], "line")} could not be recorded here`];
      case "stopped": return ["end", "quiet", soft(`the recording ended at ${seconds(event[1])}`)];
      default: return [String(event[0]), "quiet", ""];
    }
  },

  called(n, digest) {
    const watchers = digest.calledBy.get(n);
    return watchers && make("span", { class: "line" }, soft("called "),
      watchers.flatMap((w, i) => i ? [", ", watcherLink(w)] : [watcherLink(w)]));
  },

  observed(w) {
    const watcher = page.recording.watchers.get(w);
    return watcher?.object ? make("span", { class: "soft" }, objectText(watcher.object), " ",
      shorten(watcher.paths.join(", "), 120)) : "";
  },

  // A write that caused something, perhaps in an earlier turn.
  cause(n, digest) {
    const write = digest.writes.get(n);
    if (write) return make("code", {}, objectText(write.o) + keyText(write.key));
    const turn = page.recording.turnOfWrite(n);
    if (!turn || turn === digest.turn) return soft(`write ${n}`);
    return make("span", {}, soft(`write ${n} in `), turnLink(turn));
  },
};

const notice = text => make("p", { class: "note" }, text);

// Reads the events of a turn, and joins successive events of one kind. `before` is the state before.
function readTurn(recording, turn, before) {
  const after = before.copy();
  const digest = { turn, after, rows: [], writes: new Map(), calledBy: new Map(),
    changed: new Map(), calls: [], invalid: [], computed: [], unchanged: [] };
  const open = [];
  const grouped = new Set(["object", "gone", "stop", "invalid", "input"]);
  // Inputs of the loop itself.
  const silent = new Set(["now", "poll", "settle", "descriptor"]);
  for (const event of recording.events(turn)) {
    const [kind] = event;
    if (kind === "text" || kind === "turn" || kind === "end") continue;
    if (kind === "input" && silent.has(event[1])) continue;
    const row = { event, depth: open.length };
    const previous = digest.rows.at(-1);
    if (kind === "write" || kind === "edit") {
      const [, n, o] = event;
      const key = kind === "write" ? event[3] : event[4];
      if (event[3] === "replace") row.old = after.value(o, key) ?? { u: 1 };
      row.before = after.target(kind === "write" ? event[4] : row.old);
      row.after = after.target(event[5]);
      digest.writes.set(n, { o, key, isEdit: kind === "edit" });
      entry(digest.changed, o, () => new Set()).add(keyOf(key));
    } else if (kind === "compute") {
      row.before = after.target(event[2]);
      row.after = after.target(event[3]);
      digest.computed.push({ p: event[1], w: open.at(-1)?.event[1] });
    } else if (kind === "call") {
      open.push(row);
      digest.calls.push(event);
      for (const n of event[2]) if (n > 0) entry(digest.calledBy, n, () => []).push(event[1]);
    } else if (kind === "return") {
      const call = open.findLastIndex(row => row.event[1] === event[1]);
      if (call >= 0) open.splice(call)[0].duration = event[2];
      continue;
    } else if (kind === "invalid") digest.invalid.push(event);
    else if (kind === "unchanged") digest.unchanged.push(event[1]);
    after.apply(event);
    if (grouped.has(kind)) {
      const fits = previous?.event[0] === kind && previous.depth === row.depth &&
        previous.group.length < 40 && (kind !== "invalid" || previous.event[2] === event[2]);
      if (fits) {
        previous.group.push(event);
        continue;
      }
      row.group = [event];
    }
    digest.rows.push(row);
  }
  // stateBefore() of a later turn can start here.
  if (turn.hasEnded) digest.known = { index: turn.index + 1, state: after };
  return digest;
}

"use strict";

// The lines of a recording. The first pass keeps what all views need: names, turns, totals, and the
// turns in which each object, key, place, watcher and property occurs. A turn keeps its lines as
// text and is parsed again when it is looked at: a million events are then a few bytes each.
class Recording {
  texts = new Map();
  turns = [];
  objects = new Map();
  watchers = new Map();
  properties = new Map();
  keys = new Map();
  places = new Map();
  equals = new Map();
  errors = [];
  counts = { events: 0, writes: 0, calls: 0, equal: 0, missed: 0, unreadable: 0 };
  header = {};
  state = new State(this);
  checkpoints = [];
  #calls = [];
  #lastWrite = 0;
  #changes = 0;
  #size = 0;
  #restating = false;
  #badLine = false;

  // Keeps the last `limit` turns, in at most `room` characters.
  constructor(limit = Infinity, room = Infinity) {
    this.limit = limit;
    this.room = room;
  }

  get first() { return this.turns[0]?.index ?? 0; }
  get last() { return this.turns.at(-1)?.index ?? -1; }
  // The file ends in the middle of a line.
  get isCut() { return this.#badLine; }
  turn(index) { return this.turns[index - this.first]; }
  text(id) { return this.texts.get(id) ?? ""; }

  // Reads a block of lines and yields the part that is done, so that the page can be drawn.
  *load(block) {
    let start = 0, count = 0;
    for (let from = 0; from < block.length;) {
      let to = block.indexOf("\n", from);
      if (to < 0) to = block.length;
      const event = this.#parse(block.slice(from, to));
      if (event && this.#begins(event)) {
        this.#keep(block.slice(start, from));
        start = from;
        this.#begin(event);
      }
      if (event) this.#read(event);
      from = to + 1;
      if (++count % 2000 === 0) yield from / block.length;
    }
    this.#keep(block.slice(start));
  }

  // Reads one line that has just happened.
  add(line) {
    const event = this.#parse(line);
    if (!event) return;
    if (this.#begins(event)) this.#begin(event);
    this.#read(event);
    this.#keep(line + "\n");
    this.#prune();
  }

  // The events of a turn. A checkpoint repeats what is known, so the turn ends before it.
  events(turn) {
    const events = [];
    for (const line of turn.text.split("\n")) {
      const event = parseEvent(line);
      if (event?.[0] === "checkpoint") break;
      if (event) events.push(event);
    }
    return events;
  }

  // The state before turn `index`. It starts at a checkpoint, or at `known` if that is nearer.
  stateBefore(index, known) {
    let start = this.checkpoints.findLast(checkpoint => checkpoint.index <= index);
    if (known?.index <= index && known.index > start.index) start = known;
    const state = start.state.copy();
    for (let i = start.index; i < index; i++) this.#replay(this.turn(i), state);
    return state;
  }

  turnOfWrite(number) {
    return this.turns[firstIndex(this.turns.length, i => this.turns[i].firstWrite > number) - 1];
  }

  #replay(turn, state) {
    for (const line of turn.text.split("\n")) {
      const event = State.changing.test(line) && parseEvent(line);
      if (event) state.apply(event);
    }
  }

  #parse(line) {
    if (line === "" || line === "\r") return;
    if (this.#badLine) this.counts.unreadable++;
    const event = parseEvent(line);
    this.#badLine = event === undefined;
    if (event) return event;
    const header = parseLine(line);
    if (header?.["obs-lua"] !== "recording") return;
    this.#badLine = false;
    this.header = header;
  }

  // Events before the first turn get a turn with the number 0. Definitions don't.
  #begins(event) {
    if (event[0] === "turn") return true;
    return this.turns.length === 0 && !Recording.definitions.has(event[0]);
  }

  #begin(event) {
    const [, number, kind, place, time] =
      event[0] === "turn" ? event : [0, 0, "before", 0, this.started ?? 0];
    this.#restating = false;
    const index = this.last + 1;
    const previous = this.turns.at(-1);
    const since = index - (this.checkpoints.at(-1)?.index ?? -Infinity);
    if (this.#changes >= Math.max(4000, 2 * this.state.objects.size) || since === Infinity ||
        previous?.isPartial || (this.limit < Infinity && since >= 250)) {
      this.checkpoints.push({ index, state: this.state.copy() });
      this.#changes = 0;
    }
    this.turns.push({
      index, number, kind, place, time, end: time, text: "", firstWrite: this.#lastWrite + 1,
      writes: 0, calls: 0, equal: 0, errors: 0, missed: 0, isPartial: false, hasEnded: false,
    });
    if (place) note(this.places, place, index);
    this.#calls = [];
  }

  #keep(text) {
    const turn = this.turns.at(-1);
    if (!turn) return;
    this.#size += text.length;
    if (turn.text.length + text.length > this.room / 4) turn.isPartial = true;
    else turn.text += text;
  }

  #read(event) {
    const turn = this.turns.at(-1);
    const here = this.#restating ? undefined : turn?.index;
    const time = value => { if (turn && value > turn.end) turn.end = value; };
    this.counts.events++;
    switch (event[0]) {
      case "text":
        this.texts.set(event[1], event[2]);
        return;
      case "checkpoint":
        this.#restating = true;
        this.started ??= event[2];
        break;
      case "end":
        time(event[2]);
        turn.hasEnded = true;
        return;
      case "object": {
        const object = this.object(event[1], here);
        object.name = this.text(event[2]) || "object";
        object.address = event[3];
        noteIn(object, here);
        break;
      }
      case "gone": {
        const object = this.object(event[1], here);
        object.gone = here;
        noteIn(object, here);
        break;
      }
      case "watcher": {
        const [, w, name, place, o, path] = event;
        const watcher = this.watcher(w, here);
        watcher.name = this.text(name) || "watcher";
        watcher.place = this.text(place);
        watcher.object = o;
        if (!watcher.paths.includes(this.text(path))) watcher.paths.push(this.text(path));
        if (o) {
          const object = this.object(o, here);
          object.watchers.add(w);
          noteIn(object, here);
        }
        if (here !== undefined) note(this.places, place, here);
        return;
      }
      case "stop":
        this.watcher(event[1], here).stopped = here;
        return;
      case "lazy": {
        const [, p, name, place, o] = event;
        const property = this.property(p, here);
        Object.assign(property, { name: this.text(name), place: this.text(place), object: o });
        break;
      }
      case "write":
      case "edit": {
        const [kind, n, o, , , , place] = event, key = kind === "write" ? event[3] : event[4];
        turn.writes++;
        this.counts.writes++;
        if (n > this.#lastWrite) this.#lastWrite = n;
        this.#note(o, key, place, turn.index);
        break;
      }
      case "equal": {
        const [, o, key, place, count] = event;
        turn.equal += count;
        this.counts.equal += count;
        this.#note(o, key, place, turn.index);
        const name = this.object(o).name;
        const id = `${name}\n${keyOf(key)}\n${place}`;
        const total = this.equals.get(id) ??
          { name, key, place: this.text(place), count: 0, objects: new Set() };
        total.count += count;
        if (total.objects.size < 1000) total.objects.add(o);
        this.equals.set(id, total);
        return;
      }
      case "invalid":
        noteIn(this.property(event[1], here), here);
        break;
      case "compute": {
        const [, p, , , at, duration, outcome] = event;
        const property = this.property(p, here);
        property.computed++;
        property.total += duration;
        property.max = Math.max(property.max, duration);
        noteIn(property, here);
        time(at);
        if (outcome === "failed") this.#fail(turn, `The getter of ${property.name} failed.`, 0, p);
        break;
      }
      case "call": {
        const [, w, , at] = event;
        const watcher = this.watcher(w, here);
        watcher.calls++;
        noteIn(watcher, here);
        this.#calls.push(watcher);
        turn.calls++;
        this.counts.calls++;
        time(at);
        return;
      }
      case "return": {
        const watcher = this.watcher(event[1], here);
        const open = this.#calls.lastIndexOf(watcher);
        if (open >= 0) this.#calls.length = open;
        watcher.total += event[2];
        if (event[2] >= watcher.max) [watcher.max, watcher.slowest] = [event[2], here];
        return;
      }
      case "error":
        this.#fail(turn, event[1], event[3]);
        if (event[2]) note(this.places, event[2], turn.index);
        return;
      case "missed":
        turn.missed += event[1];
        this.counts.missed += event[1];
        return;
      default:
        return;
    }
    this.#changes++;
    this.state.apply(event);
  }

  #fail(turn, message, w, p) {
    turn.errors++;
    if (this.errors.length < 5000) this.errors.push({ turn: turn.index, message, w, p });
  }

  #note(o, key, place, index) {
    noteIn(this.object(o, index), index);
    note(this.keys, keyOf(key), index);
    if (place) note(this.places, place, index);
  }

  object(id, here) {
    return entry(this.objects, id, () =>
      ({ id, name: "object", address: "", first: here, turns: [], watchers: new Set() }));
  }

  watcher(id, here) {
    return entry(this.watchers, id, () => ({
      id, name: "watcher", place: "", object: 0, paths: [], first: here, turns: [],
      calls: 0, total: 0, max: 0,
    }));
  }

  property(id, here) {
    return entry(this.properties, id, () => ({
      id, name: "property", place: "", object: 0, first: here, turns: [],
      computed: 0, total: 0, max: 0,
    }));
  }

  // Drops the oldest turns, up to a checkpoint, and what only they refer to.
  #prune() {
    const isFull = this.#size > this.room && this.turns.length > 1;
    if (!isFull && this.turns.length <= this.limit * 1.1) return;
    const wanted = isFull ? this.first + (this.turns.length >> 1) : this.last + 1 - this.limit;
    let start = this.checkpoints.findLast(checkpoint => checkpoint.index <= wanted);
    if (start.index === this.first) start = this.checkpoints[1];
    if (!start) return;
    this.turns.splice(0, start.index - this.first);
    this.checkpoints = this.checkpoints.filter(checkpoint => checkpoint.index >= start.index);
    this.#size = this.turns.reduce((size, turn) => size + turn.text.length, 0);
    this.errors = this.errors.filter(error => error.turn >= start.index);
    const trim = list => {
      list.splice(0, firstIndex(list.length, i => list[i] >= start.index));
      return list.length > 0;
    };
    for (const lists of [this.keys, this.places]) {
      for (const [id, list] of lists) if (!trim(list)) lists.delete(id);
    }
    for (const [id, object] of this.objects) {
      if (!trim(object.turns) && object.gone !== undefined) this.objects.delete(id);
    }
    for (const [id, watcher] of this.watchers) {
      if (!trim(watcher.turns) && watcher.stopped < start.index) this.watchers.delete(id);
    }
    for (const [id, property] of this.properties) {
      if (!trim(property.turns) && !this.objects.has(property.object)) this.properties.delete(id);
    }
    for (const object of this.objects.values()) {
      for (const w of object.watchers) if (!this.watchers.has(w)) object.watchers.delete(w);
    }
    forgetOldest(this.texts, 100_000);
    forgetOldest(this.equals, 10_000);
  }

  static definitions = new Set(["text", "object", "gone", "watcher", "stop", "lazy", "checkpoint"]);
}

// What follows the kind of an event: a number, a string, a boolean, any value, a list of numbers,
// or contents. Unknown kinds may have anything.
const shapes = {
  text: "ns", turn: "nsnn", flush: "n", end: "nn", object: "nnsc", gone: "n", watcher: "nnnnn",
  stop: "n", lazy: "nnnn", write: "nnvvvn", edit: "nnsvvn", equal: "nvnn", invalid: "nn",
  compute: "nvvnn", call: "nln", return: "nn", unchanged: "n", error: "snn", timer: "nnnb",
  timerend: "n", task: "nn", taskend: "n", missed: "n", stopped: "n", checkpoint: "nn",
  input: "son", cannot: "s", break: "ns",
};
const tests = {
  n: value => typeof value === "number", s: value => typeof value === "string",
  o: value => value === null || typeof value === "string",
  b: value => typeof value === "boolean", v: value => value !== undefined,
  l: value => Array.isArray(value) && value.every(tests.n),
  c: value => value === null || (Array.isArray(value) && value.every(Array.isArray)),
};

// The event of a line; undefined if the line is no event.
function parseEvent(line) {
  const event = parseLine(line);
  if (!Array.isArray(event) || typeof event[0] !== "string") return undefined;
  const shape = Object.hasOwn(shapes, event[0]) ? shapes[event[0]] : "";
  for (let i = 0; i < shape.length; i++) if (!tests[shape[i]](event[i + 1])) return undefined;
  return event;
}

function parseLine(line) {
  try {
    return JSON.parse(line) ?? undefined;
  } catch {
    return undefined;
  }
}

// The first index below `length` that passes a test that all later ones pass, too; else `length`.
function firstIndex(length, test) {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle; else low = middle + 1;
  }
  return low;
}

function entry(map, id, make) {
  let value = map.get(id);
  if (!value) map.set(id, value = make());
  return value;
}

// Lists of turns are in order and have no doubles.
function noteIn(owner, index) {
  if (index !== undefined && owner.turns.at(-1) !== index) owner.turns.push(index);
}

function note(map, id, index) {
  const list = map.get(id);
  if (!list) map.set(id, [index]);
  else if (list[list.length - 1] !== index) list.push(index);
}

function forgetOldest(map, size) {
  for (const id of map.keys()) {
    if (map.size <= size) return;
    map.delete(id);
  }
}

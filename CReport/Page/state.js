// The contents of all observed objects at one time. A copy shares the contents: whoever changes an
// object first copies that object. A checkpoint therefore costs one reference for each object, and
// the contents of those that change afterwards.
class State {
  objects = new Map();
  addresses = new Map();
  #token = {};

  // The lines that apply() needs.
  static changing = /^\["(object|gone|write|edit|compute|invalid|lazy|checkpoint)"/;

  constructor(recording) {
    this.recording = recording;
  }

  copy() {
    const copy = new State(this.recording);
    copy.objects = new Map(this.objects);
    copy.addresses = new Map(this.addresses);
    this.#token = {};
    return copy;
  }

  apply(event) {
    switch (event[0]) {
      case "checkpoint":
        this.objects.clear();
        this.addresses.clear();
        return;
      case "object": {
        const [, o, name, address, contents] = event;
        const record = this.#make(o, contents !== null);
        record.isKeyed = ["set", "dictionary"].includes(this.recording.text(name).toLowerCase());
        record.address = address;
        this.addresses.set(address, o);
        for (const [key, value] of contents ?? []) put(record, key, value);
        return;
      }
      case "gone": {
        const address = this.objects.get(event[1])?.address;
        if (this.addresses.get(address) === event[1]) this.addresses.delete(address);
        this.objects.delete(event[1]);
        return;
      }
      case "write":
        put(this.#own(event[2]), event[3], event[5]);
        return;
      case "edit": {
        const [, , o, operation, position, value] = event;
        const record = this.#own(o);
        if (operation === "all") {
          record.list.length = 0;
          for (const [key, item] of Array.isArray(value) ? value : []) put(record, key, item);
          return;
        }
        if (record.isKeyed || !Number.isInteger(position) || operation === "replace") {
          put(record, position, operation === "remove" ? null : value ?? true);
        } else if (operation === "insert") {
          if (position > record.list.length + 1) put(record, position, value);
          else record.list.splice(position - 1, 0, value);
        } else {
          record.list.splice(position - 1, 1);
          trimList(record.list);
        }
        return;
      }
      case "lazy":
      case "invalid":
      case "compute": {
        const property = this.recording.properties.get(event[1]);
        if (!property?.object) return;
        const record = this.#own(property.object);
        const known = record.computed.get(event[1]);
        const isValid = event[0] === "compute" && event[6] !== "failed";
        const value = event[0] === "compute" ? event[3] : known?.value ?? { u: 1 };
        record.computed.set(event[1], { value, isValid: event[0] === "lazy" ? !!known : isValid });
        return;
      }
    }
  }

  // The entries of an object: [key as keyOf() writes it, value]. The list comes first.
  *entries(o) {
    const record = this.objects.get(o);
    if (!record) return;
    for (const [i, value] of record.list.entries()) if (value !== null) yield [i + 1, value];
    yield* record.rest;
  }

  value(o, key) {
    const record = this.objects.get(o);
    return record?.list[key - 1] ?? record?.rest.get(keyOf(key));
  }

  // The object that a value names now.
  target(value) {
    return value?.o === undefined ? undefined : this.addresses.get(value.o);
  }

  // Roots: the objects that no other refers to, and one of each cycle that no other reaches.
  // `parents` maps each other object to the object and key where it was found first.
  outline() {
    const referred = new Set();
    for (const o of this.objects.keys()) {
      for (const [, value] of this.entries(o)) {
        const child = this.target(value);
        if (child !== undefined && child !== o) referred.add(child);
      }
    }
    const roots = [], parents = new Map(), seen = new Set();
    const visit = root => {
      roots.push(root);
      seen.add(root);
      const queue = [root];
      for (const o of queue) {
        for (const [key, value] of this.entries(o)) {
          const child = this.target(value);
          if (child === undefined || seen.has(child)) continue;
          seen.add(child);
          parents.set(child, { o, key });
          queue.push(child);
        }
      }
    };
    for (const o of this.objects.keys()) if (!referred.has(o)) visit(o);
    for (const o of this.objects.keys()) if (!seen.has(o)) visit(o);
    return { roots: roots.sort((a, b) => a - b), parents };
  }

  #make(o, isKnown) {
    const record = {
      token: this.#token, address: undefined, isKnown, isKeyed: false,
      list: [], rest: new Map(), computed: new Map(),
    };
    this.objects.set(o, record);
    return record;
  }

  #own(o) {
    const record = this.objects.get(o);
    if (!record) return this.#make(o, false);
    if (record.token === this.#token) return record;
    const copy = {
      ...record, token: this.#token, list: record.list.slice(), rest: new Map(record.rest),
      computed: new Map(record.computed),
    };
    this.objects.set(o, copy);
    return copy;
  }
}

function put(record, key, value) {
  const { list, rest } = record;
  if (Number.isInteger(key) && key >= 1 && key <= list.length + 1) {
    if (key <= list.length) list[key - 1] = value;
    else if (value !== null) list.push(value);
    trimList(list);
    for (; rest.size > 0 && rest.has(list.length + 1); rest.delete(list.length)) {
      list.push(rest.get(list.length + 1));
    }
  } else if (value === null) {
    rest.delete(keyOf(key));
  } else {
    rest.set(keyOf(key), value);
  }
}

function trimList(list) {
  while (list.length > 0 && list.at(-1) === null) list.pop();
}

// Keys of a Map: strings, numbers and booleans stay as they are, others become a text that no
// string has.
function keyOf(key) {
  const isPlain = typeof key !== "object" && !(typeof key === "string" && key.startsWith("\0"));
  return isPlain ? key : "\0" + JSON.stringify(key);
}

function keyFrom(id) {
  return typeof id === "string" && id.startsWith("\0") ? JSON.parse(id.slice(1)) : id;
}

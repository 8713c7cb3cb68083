// Finds turns by object, key, watcher, property, place or number.
const search = {
  hits: [],

  start() {
    find("query").addEventListener("input", () => this.run());
    find("search").addEventListener("submit", event => {
      event.preventDefault();
      this.go(1);
    });
    find("next-hit").addEventListener("click", () => this.go(1));
    find("previous-hit").addEventListener("click", () => this.go(-1));
  },

  run() {
    const query = find("query").value.trim().toLowerCase(), { recording } = page;
    const found = [], what = [];
    const add = (name, lists) => {
      if (lists.length > 0) what.push(count(lists.length, ...name));
      for (const list of lists) found.push(list);
    };
    const [, number] = /^turn (\d+)$/.exec(query) ?? [];
    if (number !== undefined) {
      add(["turn"], recording.turns.filter(turn => turn.number === Number(number))
        .map(turn => [turn.index]));
    } else if (query !== "") {
      const has = text => String(text).toLowerCase().includes(query);
      const matching = (map, test) => [...map.values()].filter(test);
      const id = /#(\d+)$/.exec(query)?.[1];
      add(["object"], matching(recording.objects, object => id !== undefined
        ? String(object.id) === id && objectText(object.id).toLowerCase().includes(query)
        : has(object.name)).map(object => object.turns));
      add(["key"], [...recording.keys].filter(([key]) => typeof key === "number"
        ? String(key) === query : has(key)).map(([, list]) => list));
      add(["watcher"], matching(recording.watchers, watcher =>
        has(watcher.name) || has(watcher.place) || watcher.paths.some(has)).map(watcher =>
        [watcher.first, ...watcher.turns, watcher.stopped].filter(index => index !== undefined)));
      add(["property", "properties"], matching(recording.properties, property =>
        has(property.name) || has(property.place)).map(property => property.turns));
      add(["place"], [...recording.places].filter(([text]) => has(recording.text(text)))
        .map(([, list]) => list));
    }
    const indices = new Set(found.flat().filter(index => recording.turn(index)));
    this.hits = [...indices].sort((a, b) => a - b);
    timeline.hits = this.hits;
    find("hits").textContent = query === "" ? ""
      : `${count(this.hits.length, "turn")}${what.length ? ": " : ""}${what.join(", ")}`;
    for (const id of ["next-hit", "previous-hit"]) find(id).disabled = this.hits.length === 0;
    timeline.draw();
  },

  go(step) {
    const { hits } = this, at = page.selected;
    if (hits.length === 0) return;
    const next = step > 0 ? hits.find(hit => hit > at) ?? hits[0]
      : hits.findLast(hit => hit < at) ?? hits.at(-1);
    page.select(next);
  },
};

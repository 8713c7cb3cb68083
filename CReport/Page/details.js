// The whole life of one object, watcher or property.
const details = {
  shown: undefined,

  show(kind, id) {
    this.shown = { kind, id };
    tabs.select("details");
    this.render();
    find("panel-details").scrollTop = 0;
    find("panel-details").focus();
  },

  render() {
    const { kind, id } = this.shown ?? {};
    const { recording } = page;
    const item = { object: recording.objects, watcher: recording.watchers,
      property: recording.properties }[kind]?.get(id);
    const box = find("details");
    if (!item) return box.replaceChildren(
      notice(kind ? `This ${kind} is not in the turns that are kept.`
        : "Choose an object, a property or a watcher to see its whole life."));
    box.replaceChildren(...this[kind](item).flat(Infinity).filter(Boolean));
  },

  facts(...pairs) {
    return make("dl", {}, pairs.filter(([, value]) => value)
      .flatMap(([name, value]) => [make("dt", {}, name), make("dd", { class: "row" }, value)]));
  },

  when(index, otherwise) {
    const turn = page.recording.turn(index);
    return turn ? [turnLink(turn), soft(` at ${seconds(turn.time)}`)] : otherwise;
  },

  object(object) {
    const { watchers, properties } = page.recording;
    const own = [...properties.values()].filter(({ object: owner }) => owner === object.id);
    const paths = w => make("code", {}, shorten(watchers.get(w)?.paths.join(", ") ?? "", 120));
    const show = () => {
      tabs.select("state");
      tree.focus(object.id);
    };
    return [
      make("h3", {}, objectText(object.id)),
      this.facts(
        ["address", object.address], ["first seen", this.when(object.first, "at the beginning")],
        ["gone", this.when(object.gone, "no")],
        ["watchers", object.watchers.size === 0 ? "none" : [...object.watchers].slice(0, 100)
          .map(w => make("div", {}, watcherLink(w), " ", paths(w)))],
        ["properties", own.length > 0 &&
          own.map(({ id }) => make("div", {}, propertyLink(id)))]),
      page.digest?.after.objects.has(object.id) &&
        make("p", {}, make("button", { onclick: show }, "Show in the state")),
      live.objectTools(object.id),
      make("h4", {}, "Events"),
      pages(make("ol", { class: "rows" }), this.life(object)),
    ];
  },

  // All events of an object, turn by turn. Only the turns that are shown are parsed.
  *life(object) {
    const { recording } = page;
    let known;
    for (const index of object.turns) {
      const turn = recording.turn(index);
      if (!turn) continue;
      const digest = readTurn(recording, turn, recording.stateBefore(index, known));
      known = digest.known;
      const about = ([kind, ...rest]) => {
        const o = { write: rest[1], edit: rest[1], equal: rest[0], watcher: rest[3], lazy: rest[3],
          object: rest[0], gone: rest[0] }[kind];
        return o === object.id;
      };
      for (const row of digest.rows) {
        const group = (row.group ?? [row.event]).filter(about);
        if (group.length === 0) continue;
        const item = { ...row, event: group[0], depth: 0, group: row.group && group };
        const element = turnView.row(item, digest);
        element.prepend(turnLink(turn));
        yield element;
      }
    }
  },

  watcher(watcher) {
    return [
      make("h3", {}, shorten(watcher.name)),
      this.facts(
        ["watches", watcher.object && [objectLink(watcher.object), " ",
          make("code", {}, shorten(watcher.paths.join(", "), 1000))]],
        ["registered", [placeElement(watcher.place), " ", this.when(watcher.first)]],
        ["stopped", this.when(watcher.stopped, "no")],
        ["calls", watcher.calls.toLocaleString("en")],
        ["time", watcher.calls > 0 && [this.times(watcher), " in ",
          this.when(watcher.slowest, "a turn that is not kept")]]),
      live.watcherTools(watcher.id),
      make("h4", {}, "Turns with calls"), this.turns(watcher.turns),
    ];
  },

  property(property) {
    return [
      make("h3", {}, shorten(property.name)),
      this.facts(
        ["object", objectLink(property.object)], ["declared", placeElement(property.place)],
        ["first seen", this.when(property.first, "at the beginning")],
        ["computed", count(property.computed, "time")],
        ["time", property.computed > 0 && this.times(property)]),
      make("h4", {}, "Turns in which it became invalid or was computed"),
      this.turns(property.turns),
    ];
  },

  times({ total, max }) { return `${duration(total)} in all, at most ${duration(max)}`; },

  turns(list) {
    const turns = list.values().map(index => page.recording.turn(index)).filter(Boolean);
    if (list.length === 0) return notice("None.");
    return pages(make("div", { class: "links" }), turns.map(turnLink), 100);
  },
};

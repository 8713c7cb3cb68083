// Slow and idle watchers, equal writes and errors of the whole recording.
const lists = {
  show() {
    const { recording } = page, watchers = [...recording.watchers.values()];
    const slow = watchers.filter(watcher => watcher.calls > 0).sort((a, b) => b.total - a.total);
    const idle = watchers.filter(watcher => watcher.calls === 0);
    const equal = [...recording.equals.values()].sort((a, b) => b.count - a.count);
    find("lists").replaceChildren(
      ...this.table("Slowest watchers", slow, ["watcher", "total", "max", "calls"], watcher => [
        watcherLink(watcher.id), duration(watcher.total),
        recording.turn(watcher.slowest)
          ? chip(duration(watcher.max), () => page.select(watcher.slowest), "Show this turn")
          : duration(watcher.max),
        watcher.calls.toLocaleString("en")]),
      ...this.table("Equal writes", equal, ["key", "place", "objects", "writes"], total => [
        [shorten(total.name, 40), make("b", {}, keyText(total.key))], placeElement(total.place),
        total.objects.size.toLocaleString("en"), total.count.toLocaleString("en")]),
      ...this.table("Watchers that never ran", idle, ["watcher", "object", "path"], watcher => [
        watcherLink(watcher.id), objectLink(watcher.object),
        shorten(watcher.paths.join(", "), 80)]),
      ...this.table("Errors", recording.errors, ["turn", "message"], error => [
        recording.turn(error.turn) ? turnLink(recording.turn(error.turn)) : "",
        [make("span", { class: "message" }, shorten(error.message, 500)), " ",
          error.w ? watcherLink(error.w) : error.p ? propertyLink(error.p) : ""]]));
  },

  table(title, items, columns, cells) {
    const rows = items.values().map(item => make("tr", { class: "row" }, cells(item).map(cell =>
      make("td", {}, cell))));
    return [
      make("h3", {}, title, soft(` ${items.length.toLocaleString("en")}`)),
      items.length === 0 ? notice("None.") : make("div", { class: "scroll" }, make("table", {},
        make("thead", {}, make("tr", {}, columns.map(name => make("th", {}, name)))),
        pages(make("tbody"), rows, 20))),
    ];
  },
};

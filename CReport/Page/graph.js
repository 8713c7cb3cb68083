// Who observes what in the selected turn: written keys → computed properties → watchers.
const graphView = {
  limit: 150,

  show(digest) {
    const { nodes, edges } = this.collect(digest);
    const box = find("graph");
    if (nodes.size === 0) return box.replaceChildren(notice("Nothing was written or called."));
    // Nodes without an edge are the first to be left out.
    const kept = new Map([...nodes].sort(([a], [b]) => edges.has(b) - edges.has(a))
      .slice(0, this.limit));
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ rankdir: "LR", nodesep: 10, ranksep: 44, marginx: 4, marginy: 4 });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const [id, node] of kept) {
      const width = 18 + 6.6 * Math.max(...node.lines.map(line => line.length));
      graph.setNode(id, { ...node, width, height: 10 + 15 * node.lines.length });
    }
    for (const { from, to, isCalled } of edges.list) {
      if (kept.has(from) && kept.has(to)) graph.setEdge(from, to, { isCalled });
    }
    dagre.layout(graph);
    const left = nodes.size - kept.size;
    box.replaceChildren(
      make("p", { class: "note" },
        "Written keys, computed properties, watchers. Dashed: not called.",
        left > 0 && ` ${count(left, "node is", "nodes are")} left out.`),
      make("div", { class: "scroll" }, this.draw(graph)));
  },

  collect({ writes, calls, invalid, computed, unchanged }) {
    const nodes = new Map(), edges = new Set(), list = [], { recording } = page;
    edges.list = list;
    const node = (id, type, lines, show, isCalled = true) => {
      const short = lines.map(line => shorten(line, 32));
      if (!nodes.has(id)) nodes.set(id, { type, show, isCalled, lines: short });
      return id;
    };
    const connect = (from, to, isCalled = true) => {
      if (list.some(edge => edge.from === from && edge.to === to)) return;
      list.push({ from, to, isCalled });
      edges.add(from).add(to);
    };
    const property = p => {
      const { name, object } = recording.properties.get(p) ?? {};
      return node(`p${p}`, "compute", [objectText(object), `.${name}`], ["property", p]);
    };
    const watcher = (w, isCalled) => {
      const { name } = recording.watchers.get(w) ?? {};
      return node(`w${w}`, "call", [name ?? `watcher ${w}`], ["watcher", w], isCalled);
    };
    const source = n => {
      const { o, key } = writes.get(n);
      return node(`o${o} ${keyOf(key)}`, "write", [objectText(o), keyText(key)], ["object", o]);
    };
    const byWrite = new Map();
    for (const [, p, n] of invalid) {
      entry(byWrite, n, () => []).push(p);
      if (writes.has(n) && list.length < 1000) connect(source(n), property(p));
    }
    for (const [, w, causes] of calls) {
      watcher(w);
      for (const n of causes) {
        if (!writes.has(n) || list.length > 1000) continue;
        const paths = recording.watchers.get(w)?.paths.flatMap(path => path.split(".")) ?? [];
        const through = (byWrite.get(n) ?? [])
          .filter(p => paths.includes(recording.properties.get(p)?.name));
        for (const p of through) connect(property(p), watcher(w));
        if (through.length === 0) connect(source(n), watcher(w));
      }
    }
    for (const { p, w } of computed) if (w && list.length < 1000) connect(property(p), watcher(w));
    for (const w of unchanged) watcher(w, false);
    // Watchers of the written keys that were not called.
    const { index } = page.digest.turn;
    for (const [n, { o, key, isEdit }] of writes) {
      for (const w of recording.objects.get(o)?.watchers ?? []) {
        const { first, stopped, paths } = recording.watchers.get(w);
        if (first > index || stopped < index || nodes.get(`w${w}`)?.isCalled) continue;
        const fits = paths.map(path => path.split(".")[0]).some(start =>
          start === String(key) || start[0] === "*" || (isEdit && /^[#@]/.test(start)));
        if (fits && list.length < 1000) connect(source(n), watcher(w, false), false);
      }
    }
    for (const n of writes.keys()) if (nodes.size < 2000) source(n);
    return { nodes, edges };
  },

  draw(graph) {
    const { width, height } = graph.graph();
    const svg = (tag, attributes, ...children) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      element.append(...children);
      return element;
    };
    const lines = graph.edges().map(edge => {
      const { points, isCalled } = graph.edge(edge);
      const [start, ...rest] = points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
      const curve = rest.length === 2 ? `Q${rest[0]} ${rest[1]}` : `L${rest.join("L")}`;
      return svg("path", { d: `M${start}${curve}`, class: isCalled ? "edge" : "edge dashed",
        "marker-end": "url(#arrow)" });
    });
    const boxes = graph.nodes().map(id => {
      const { x, y, width, height, lines, type, show, isCalled } = graph.node(id);
      const open = () => details.show(...show);
      const box = svg("g", { class: `node ${type}${isCalled ? "" : " dashed"}`, tabindex: 0,
        role: "button", "aria-label": lines.join(""),
        transform: `translate(${(x - width / 2).toFixed(1)} ${(y - height / 2).toFixed(1)})` },
      svg("rect", { width, height, rx: 6 }),
      ...lines.map((line, i) => svg("text", { x: 9, y: 17 + 15 * i }, line)));
      box.addEventListener("click", open);
      box.addEventListener("keydown", event => { if (event.key === "Enter") open(); });
      return box;
    });
    const tip = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7,
      markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8z", class: "tip" }));
    return svg("svg", { width: Math.ceil(width), height: Math.ceil(height), role: "group",
      "aria-label": "Who observes what" }, svg("defs", {}, tip), ...lines, ...boxes);
  },
};

// The turns on an axis of time, or one beside the other. Each lane adds up the turns of a column of
// pixels, so drawing costs one step for each visible turn, whatever the number of events.
const timeline = {
  canvas: undefined,
  from: 0,
  to: 1,
  isEven: false,   // all turns have the same width
  hits: [],
  gutter: 84,
  lanes: 4,        // watchers that have a lane

  start() {
    this.canvas = find("timeline");
    const { canvas } = this;
    let drag;
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      const across = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (across || event.shiftKey) this.pan((event.deltaX || event.deltaY) / this.width);
      else this.zoom(Math.exp(event.deltaY / 400), this.valueAt(event.offsetX));
    }, { passive: false });
    canvas.addEventListener("pointerdown", event => {
      drag = { x: event.offsetX, from: this.from, to: this.to, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      if (!drag) return this.describe(event.offsetX);
      if (Math.abs(event.offsetX - drag.x) > 3) drag.moved = true;
      const shift = (drag.x - event.offsetX) / this.width * (drag.to - drag.from);
      if (drag.moved) this.show(drag.from + shift, drag.to + shift);
    });
    canvas.addEventListener("pointerup", event => {
      if (drag && !drag.moved) {
        const turn = this.turnAt(event.offsetX);
        if (turn) page.select(turn.index);
      }
      drag = undefined;
    });
    canvas.addEventListener("pointercancel", () => { drag = undefined; });
    canvas.addEventListener("keydown", event => {
      const act = {
        "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
        "0": () => this.whole(),
      }[event.key] ?? (event.shiftKey && {
        ArrowLeft: () => this.pan(-0.25), ArrowRight: () => this.pan(0.25),
      }[event.key]);
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
    for (const [id, act] of Object.entries({
      "zoom-in": () => this.zoom(0.5), "zoom-out": () => this.zoom(2),
      "zoom-all": () => this.whole(),
      earlier: () => this.pan(-0.5), later: () => this.pan(0.5),
    })) find(id).addEventListener("click", act);
    find("even").addEventListener("change", () => {
      this.isEven = find("even").checked;
      this.whole();
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.whole();
  },

  get width() { return Math.max(1, this.canvas.clientWidth - this.gutter - 8); },
  position(turn) { return this.isEven ? turn.index : turn.time; },
  end(turn) { return this.isEven ? turn.index + 1 : turn.end; },
  valueAt(x) { return this.from + (x - this.gutter) / this.width * (this.to - this.from); },

  // From the beginning of the first turn to the end of the last.
  get range() {
    const { turns } = page.recording;
    if (turns.length === 0) return [0, 1];
    const [from, to] = [this.position(turns[0]), this.end(turns.at(-1))];
    return [from, Math.max(to, from + 1)];
  },

  whole() {
    this.isWhole = true;
    [this.from, this.to] = this.range;
    this.draw();
  },

  show(from, to) {
    const [low, high] = this.range;
    const size = Math.min(Math.max(to - from, this.isEven ? 4 : 20), high - low);
    this.isWhole = size >= high - low;
    this.from = Math.min(Math.max(from, low), high - size);
    this.to = this.from + size;
    this.draw();
  },

  zoom(factor, middle) {
    const turn = page.recording.turn(page.selected);
    const centre = turn ? this.position(turn) : this.from;
    const isVisible = centre >= this.from && centre <= this.to;
    middle ??= isVisible ? centre : (this.from + this.to) / 2;
    this.show(middle - (middle - this.from) * factor, middle + (this.to - middle) * factor);
  },

  pan(part) {
    const shift = part * (this.to - this.from);
    this.show(this.from + shift, this.to + shift);
  },

  // Moves the window if the turn is not in it.
  reveal(turn) {
    if (this.isWhole) [this.from, this.to] = this.range;
    const value = this.position(turn), half = (this.to - this.from) / 2;
    if (value < this.from || value > this.to) this.show(value - half, value + half);
    else this.draw();
  },

  // How many turns begin at or before a value.
  until(value) {
    const { turns } = page.recording;
    return firstIndex(turns.length, i => this.position(turns[i]) > value);
  },

  turnAt(x) {
    const { turns } = page.recording, value = this.valueAt(x), i = this.until(value);
    const [before, after] = [turns[i - 1], turns[i]];
    if (!before || !after) return before ?? after;
    const isNear = this.end(before) >= value ||
      value - this.end(before) <= this.position(after) - value;
    return isNear ? before : after;
  },

  describe(x) {
    const turn = x >= this.gutter && this.turnAt(x);
    find("pointed").textContent = turn
      ? `turn ${turn.number} (${turn.kind}) at ${seconds(turn.time)}: ` +
        `${count(turn.writes, "write")}, ${count(turn.calls, "call")}`
      : "";
  },

  // Draws once before the next frame, however often it is asked to.
  draw() {
    if (this.isPlanned) return;
    this.isPlanned = true;
    requestAnimationFrame(() => {
      this.isPlanned = false;
      if (this.canvas.clientWidth > 0) this.paint();
    });
  },

  paint() {
    const { canvas, gutter, width } = this, { recording } = page, scale = devicePixelRatio;
    const style = getComputedStyle(document.documentElement), colours = new Map();
    const colour = name => entry(colours, name, () => style.getPropertyValue("--" + name));
    const busiest = this.busiest();
    const top = { marks: 20, turns: 32, writes: 52, calls: 82, watchers: 112 };
    const height = top.watchers + busiest.length * 14 + 4;
    canvas.style.height = height + "px";
    canvas.width = Math.round(canvas.clientWidth * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const text = (words, x, y) => {
      context.fillStyle = colour("soft");
      context.fillText(words, x, y);
    };
    const x = value => gutter + (value - this.from) / (this.to - this.from) * width;
    const count = Math.ceil(width);
    const column = value => Math.min(count - 1, Math.max(0, Math.floor(x(value) - gutter)));
    const columns = this.columns(count, column), { most } = columns;
    const usual = columns.turns < count / 8 ? 3 : 1;
    // One bar for each column whose sum is not 0.
    const bars = (name, sums, bottom, high, opacity = () => 1, left = 0, wide = usual) => {
      context.fillStyle = colour(name);
      for (let c = 0; c < count; c++) {
        if (!sums[c]) continue;
        const size = high(sums[c]);
        context.globalAlpha = opacity(sums[c]);
        context.fillRect(gutter + c + left, bottom - size, wide, size);
      }
      context.globalAlpha = 1;
    };
    const sum = indices => {
      const sums = new Float64Array(count);
      for (const index of indices) sums[column(this.position(recording.turn(index)))]++;
      return sums;
    };
    // The square root keeps one write visible beside a thousand.
    const root = most => value => Math.max(2, Math.round(24 * Math.sqrt(value / most)));

    if (columns.turns > 0) this.ticks(context, x, height, colour, text);
    this.mark(context, x, height, colour("text"), top.marks - 2);
    bars("soft", columns.missed, height, () => height - top.marks, undefined, 0, 1);
    for (const [kind, busy] of columns.kinds) {
      bars(kind, busy, top.turns + 12, () => 12, part => 0.35 + 0.65 * Math.min(1, part), 0, 1);
    }
    bars("write", columns.writes, top.writes + 24, root(most.writes));
    bars("call", columns.calls, top.calls + 24, root(most.calls));
    busiest.forEach((watcher, lane) => {
      const y = top.watchers + lane * 14, sums = sum(this.visible(watcher.turns));
      const max = Math.max(...sums);
      bars("call", sums, y + 10, () => 10, value => 0.4 + 0.6 * value / max);
      let words = shorten(watcher.name, 20);
      while (context.measureText(words).width > gutter - 16) words = words.slice(0, -2) + "…";
      text(words, 8, y + 5);
    });
    bars("error", columns.errors, top.marks + 8, () => 8);
    bars("hit", sum(this.visible(this.hits)), top.marks + 8, () => 8, undefined, -1, 3);
    for (const name of ["turns", "writes", "calls"]) {
      text(name, 8, top[name] + (name === "turns" ? 6 : 13));
      const words = String(most[name] ?? "");
      text(words, gutter - 6 - context.measureText(words).width, top[name] + 5);
    }
    const turn = recording.turn(page.selected);
    canvas.setAttribute("aria-valuemin", recording.turns[0]?.number ?? 0);
    canvas.setAttribute("aria-valuemax", recording.turns.at(-1)?.number ?? 0);
    canvas.setAttribute("aria-valuenow", turn?.number ?? 0);
    canvas.setAttribute("aria-valuetext",
      turn ? `turn ${turn.number} at ${seconds(turn.time)}` : "");
  },

  // What the turns in the window add up to, by column; `kinds` says how much of a column is busy.
  columns(count, column) {
    const sums = () => new Float64Array(count);
    const { turns } = page.recording, kinds = new Map(), unit = (this.to - this.from) / count;
    const [writes, calls, errors, missed] = [sums(), sums(), sums(), sums()];
    // The last turn that began before the window may reach into it.
    const low = Math.max(0, this.until(this.from) - 1), high = this.until(this.to);
    for (let i = low; i < high; i++) {
      const turn = turns[i], from = this.position(turn), to = this.end(turn);
      if (to < this.from) continue;
      const first = column(from), last = column(to);
      writes[first] += turn.writes;
      calls[first] += turn.calls;
      errors[first] += turn.errors;
      missed[first] += turn.missed;
      const busy = entry(kinds, kindColours[turn.kind] ?? "other", sums);
      for (let c = first; c <= last; c++) busy[c] += Math.min(1, (to - from) / unit) || 0.01;
    }
    const most = { writes: Math.max(1, ...writes), calls: Math.max(1, ...calls) };
    return { writes, calls, errors, missed, kinds, most, turns: high - low };
  },

  // The selected turn.
  mark(context, x, height, colour, top) {
    const turn = page.recording.turn(page.selected);
    if (!turn || this.end(turn) < this.from || this.position(turn) > this.to) return;
    const left = Math.max(this.gutter, x(this.position(turn)));
    const right = Math.min(this.gutter + this.width, x(this.end(turn)));
    context.fillStyle = colour;
    context.globalAlpha = 0.1;
    context.fillRect(left, top, Math.max(1, right - left), height);
    context.globalAlpha = 1;
    context.fillRect(left, top, 1, height);
    context.beginPath();
    context.moveTo(left - 4, 12);
    context.lineTo(left + 5, 12);
    context.lineTo(left + 0.5, 19);
    context.fill();
  },

  ticks(context, x, height, colour, text) {
    const room = (this.to - this.from) * 64 / this.width;
    let step = 10 ** Math.floor(Math.log10(room));
    step *= [1, 2, 5, 10].find(factor => factor * step >= room);
    if (this.isEven) step = Math.max(1, Math.round(step));
    const label = value => {
      if (this.isEven) return String(page.recording.turn(value)?.number ?? "");
      const [unit, name] = this.to < 1e6 || step < 1000 ? [1e3, "ms"] : [1e6, "s"];
      return `${Number((value / unit).toFixed(3))} ${name}`;
    };
    for (let value = Math.ceil(this.from / step) * step; value <= this.to; value += step) {
      context.fillStyle = colour("line");
      context.fillRect(Math.round(x(value)), 18, 1, height);
      const words = label(value), left = x(value) - 2;
      if (left + context.measureText(words).width < this.canvas.clientWidth) text(words, left, 8);
    }
  },

  // The part of a list of turns that is in the window.
  visible(list) {
    const { turns } = page.recording;
    const from = turns[Math.max(0, this.until(this.from) - 1)]?.index ?? 0;
    const to = turns[this.until(this.to) - 1]?.index ?? -1;
    const start = firstIndex(list.length, i => list[i] >= from);
    return list.slice(start, firstIndex(list.length, i => list[i] > to));
  },

  busiest() {
    return [...page.recording.watchers.values()].filter(watcher => watcher.turns.length > 0)
      .sort((a, b) => b.calls - a.calls).slice(0, this.lanes);
  },
};

const kindColours = { timer: "timer", next: "task", chunk: "chunk", prompt: "chunk" };

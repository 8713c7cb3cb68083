// The tabs, the selection and the keyboard, and the start of everything.
const tabs = {
  names: ["state", "graph", "details", "lists", "program"],

  start() {
    for (const name of this.names) {
      find(`tab-${name}`).addEventListener("click", () => this.select(name));
    }
    find("tabs").addEventListener("keydown", event => {
      const names = this.names.filter(name => live.isOn || name !== "program");
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.stopPropagation();
      this.select(names[(names.indexOf(this.current) + step + names.length) % names.length]);
      find(`tab-${this.current}`).focus();
    });
    this.select("state");
  },

  select(name) {
    this.current = name;
    for (const other of this.names) {
      find(`tab-${other}`).setAttribute("aria-selected", String(other === name));
      find(`tab-${other}`).tabIndex = other === name ? 0 : -1;
      find(`panel-${other}`).hidden = other !== name;
    }
    page.showTab();
  },
};

const page = {
  files: {},
  selected: 0,

  begin(recording) {
    this.recording = recording;
    this.selected = 0;
    this.known = undefined;
    timeline.hits = [];
  },

  // Shows a turn. If the user chose it (`byHand`), the page stops following the program.
  select(index, byHand = true) {
    const { recording } = this;
    if (recording.turns.length === 0) return;
    if (byHand && live.isOn) live.follow(false);
    this.selected = Math.min(Math.max(index, recording.first), recording.last);
    const turn = recording.turn(this.selected);
    this.digest = readTurn(recording, turn, recording.stateBefore(turn.index, this.known));
    this.known = this.digest.known;
    turnView.show(this.digest);
    if (byHand) find("panel-turn").scrollTop = 0;
    timeline.reveal(turn);
    if (tabs.current !== "lists") this.showTab();
  },

  showTab() {
    if (!this.digest) return;
    if (tabs.current === "state") tree.show(this.digest);
    if (tabs.current === "graph") graphView.show(this.digest);
    if (tabs.current === "details" && !details.shown) details.render();
    if (tabs.current === "lists") lists.show();
  },

  summary() {
    const { recording } = this, { header, counts, turns } = recording;
    const facts = [
      count(turns.length, "turn"), count(counts.events, "event"), count(counts.writes, "write"),
      count(counts.calls, "call"), count(counts.equal, "equal write"),
    ];
    const faults = [
      counts.missed > 0 && `${count(counts.missed, "line")} could not be recorded`,
      counts.unreadable > 0 && `${count(counts.unreadable, "line")} could not be read`,
      recording.isCut && "the file ends in the middle of a line",
    ].filter(Boolean);
    const name = [header.script, header.arguments].flat().filter(Boolean).join(" ");
    document.title = `${name || "Recording"} (recording)`;
    find("title").textContent = shorten(name || "Recording", 120);
    find("program-version").textContent = shorten([header.program,
      Number.isFinite(header.started) && new Date(header.started * 1000).toLocaleString("en-GB")]
      .filter(Boolean).join(", "), 120);
    find("summary").textContent = facts.join(" · ");
    find("faults").textContent = faults.length ? `Incomplete: ${faults.join("; ")}.` : "";
  },

  // Live: shows what has arrived, at most four times a second.
  refreshSoon() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.refresh();
    }, 250);
  },

  refresh() {
    this.summary();
    if (find("query").value) search.run();
    const isGone = !this.recording.turn(this.selected);
    if (live.isFollowing || isGone) this.select(this.recording.last, false);
    else timeline.draw();
  },

  keys() {
    document.addEventListener("keydown", event => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const isTyping = event.target.matches("input:not([type=checkbox]), textarea, select");
      if (event.key === "Escape") {
        if (!isTyping) return;
        if (event.target === find("query")) {
          find("query").value = "";
          search.run();
        }
        return event.target.blur();
      }
      if (isTyping || find("help").open) return;
      const act = {
        ArrowLeft: () => this.select(this.selected - 1),
        ArrowRight: () => this.select(this.selected + 1),
        Home: () => this.select(this.recording.first),
        End: () => this.select(this.recording.last),
        "/": () => find("query").focus(), "?": () => find("help").showModal(),
        n: () => search.go(1), N: () => search.go(-1),
        Enter: event.target === document.body ? () => search.go(1) : undefined,
      }[event.key];
      if (!act || (event.shiftKey && event.key.startsWith("Arrow"))) return;
      event.preventDefault();
      act();
    });
    find("show-help").addEventListener("click", () => find("help").showModal());
    find("close-help").addEventListener("click", () => find("help").close());
    find("previous").addEventListener("click", () => this.select(this.selected - 1));
    find("next").addEventListener("click", () => this.select(this.selected + 1));
    addEventListener("hashchange", () => this.open());
  },

  // #turn=12 selects a turn.
  open() {
    const number = Number(/^#turn=(\d+)$/.exec(location.hash)?.[1] ?? NaN);
    const turn = this.recording.turns.find(turn => turn.number === number);
    if (turn) this.select(turn.index);
    return turn;
  },

  // Reads the embedded lines. The page is drawn now and then in between.
  async read(blocks) {
    let last = performance.now();
    for (const [i, block] of blocks.entries()) {
      const text = block.textContent;
      block.remove();
      for (const part of this.recording.load(text)) {
        if (performance.now() - last < 100) continue;
        find("summary").textContent = `reading ${Math.round((i + part) / blocks.length * 100)} %`;
        await new Promise(resolve => setTimeout(resolve));
        last = performance.now();
      }
    }
  },

  async start() {
    const blocks = [...document.querySelectorAll("script.recording")];
    const isLive = blocks.length === 0 && location.protocol.startsWith("http");
    this.files = parseLine(find("files")?.textContent ?? "") ?? {};
    this.begin(isLive ? live.recording() : new Recording());
    tabs.start();
    tree.start();
    search.start();
    this.keys();
    await this.read(blocks);
    timeline.start();
    this.summary();
    if (this.recording.turns.length === 0) {
      find("turn-title").textContent = isLive ? "Waiting for the first turn" : "No turn is recorded";
    } else if (!this.open()) this.select(this.recording.first);
    if (isLive) live.start();
    document.body.dataset.ready = Math.round(performance.now());
    find("ready").textContent = ` · ready in ${Math.round(performance.now())} ms`;
  },
};

page.start();

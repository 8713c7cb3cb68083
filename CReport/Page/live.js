// The page as the inspector's window: it receives the lines of the running program.
const live = {
  isOn: false,
  isFollowing: true,
  canWrite: false,
  delays: [1, 2, 4, 8, 10],

  start() {
    this.isOn = true;
    document.body.classList.add("live");
    this.token = location.hash.slice(1);
    history.replaceState(null, "", location.pathname + location.search);
    find("follow").addEventListener("click", () => this.follow(!this.isFollowing));
    find("load-roots").addEventListener("click", () => this.roots());
    const form = (id, path, body, output) => find(id).addEventListener("submit", async event => {
      event.preventDefault();
      find(output).textContent = await this.ask(path, body(new FormData(event.target)));
    });
    const value = text => parseLine(text) ?? (text.trim() === "null" ? null : text);
    form("run", "run", data => ({ code: data.get("code") }), "run-output");
    form("set", "set", data => ({ object: Number(data.get("object")), key: value(data.get("key")),
      value: value(data.get("value")) }), "set-output");
    form("break", "break", data => ({ object: Number(data.get("object")),
      key: data.get("key") === "" ? null : value(data.get("key")), on: data.get("on") !== null }),
    "break-output");
    if (!this.token) return this.say("refused", "open the address that the program printed");
    this.prepare();
    this.receive();
  },

  async prepare() {
    const info = parseLine(await this.ask("info")) ?? {};
    this.canWrite = info.write === true;
    find("write-tools").hidden = !this.canWrite;
    this.roots();
  },

  say(state, text = state) {
    find("connection").className = state;
    find("connection").textContent = text;
  },

  follow(isFollowing) {
    this.isFollowing = isFollowing;
    find("follow").textContent = isFollowing ? "Pause" : "Follow";
    find("follow").setAttribute("aria-pressed", String(isFollowing));
    if (isFollowing) page.refresh();
  },

  request(path, options = {}) {
    const headers = { Authorization: `Bearer ${this.token}`, ...options.headers };
    return fetch(path, { cache: "no-store", ...options, headers });
  },

  // The text of an answer, or of what went wrong.
  async ask(path, body) {
    try {
      const response = await this.request("/" + path, body && { method: "POST",
        headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      const text = await response.text();
      return response.ok ? text : `${response.status}: ${text}`;
    } catch (error) {
      return `No answer: ${error.message}`;
    }
  },

  async receive() {
    for (let attempt = 0; ; attempt++) {
      this.say("connecting");
      try {
        const headers = this.lastEvent === undefined ? {} : { "Last-Event-ID": this.lastEvent };
        const response = await this.request("/events", { headers });
        if (response.status === 401 || response.status === 403) {
          return this.say("refused", "refused: open the address that the program printed");
        }
        if (response.ok) {
          this.say("connected");
          await this.read(response.body, () => { attempt = -1; });
        }
      } catch {
        // The program has ended or the network is gone: try again.
      }
      const delay = this.delays[Math.min(Math.max(attempt, 0), this.delays.length - 1)];
      this.say("waiting", `not connected, next try in ${delay} s`);
      await new Promise(resolve => setTimeout(resolve, delay * 1000));
    }
  },

  async read(body, succeeded) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "", event = { data: [] };
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r?\n/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === "") {
          this.event(event);
          event = { data: [] };
          succeeded();
          continue;
        }
        const [, field, content] = /^([^:]*): ?(.*)$/s.exec(line) ?? [];
        if (field === "data") event.data.push(content);
        else if (field) event[field] = content;
      }
      page.refreshSoon();
    }
  },

  event({ id, event, data }) {
    if (event === "gap") page.recording.add(JSON.stringify(["missed", Number(data[0]) || 0]));
    else for (const line of data) this.line(line, Number(id));
    if (Number(id) > Number(this.lastEvent ?? -1)) this.lastEvent = id;
  },

  line(line, number) {
    // The first line of another run: the program was started again.
    const header = line.startsWith("{") && parseLine(line), { started } = page.recording.header;
    if (header && started !== undefined && header.started !== started) {
      page.begin(this.recording());
      this.lastEvent = undefined;
    } else if (number <= Number(this.lastEvent)) return;
    page.recording.add(line);
  },

  recording: () => new Recording(5000, 64e6),

  async roots() {
    const roots = parseLine(await this.ask("roots"));
    find("roots").replaceChildren(...Array.isArray(roots) && roots.length > 0
      ? roots.map(({ name, object }) =>
        make("li", {}, shorten(String(name), 100), " ", objectLink(object)))
      : [make("li", { class: "soft" }, "none")]);
  },

  // Buttons that ask the program and show its answer.
  tools(questions) {
    if (!this.isOn) return undefined;
    const output = make("pre", { class: "answer", "aria-live": "polite" });
    return [
      make("p", {}, questions.map(([name, path]) => make("button", { class: "ask",
        onclick: async () => { output.textContent = await this.ask(path); },
      }, name))), output];
  },

  objectTools(o) {
    for (const input of document.querySelectorAll("input[name=object]")) input.value = o;
    return this.tools([["Describe", `describe?object=${o}`]]);
  },

  watcherTools(w) {
    return this.tools([["Why was it called?", `why?watcher=${w}`],
      ["Why was it not called?", `whynot?watcher=${w}`]]);
  },
};

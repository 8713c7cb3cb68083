-- Checks the pages of the samples in a Chromium that listens on the pipes FOLDER/to and
-- FOLDER/from: lua5.4 check.lua FOLDER
local cjson = require "cjson"
local folder = arg[1]
local to, from = assert(io.open(folder .. "/to", "wb")), assert(io.open(folder .. "/from", "rb"))

local faults, checks = 0, 0
local function expect(is_so, ...)
  checks = checks + 1
  if is_so then return end
  faults = faults + 1
  io.stderr:write("✘ ", string.format(...), "\n")
end

local function read(name)
  local file <close> = assert(io.open(folder .. "/" .. name, "rb"))
  return file:read("a")
end

-- The DevTools protocol: messages end with a zero byte.
local last, session, answer = 0, nil, nil

local function receive()
  local bytes = {}
  for byte in function() return from:read(1) end do
    if byte == "\0" then return cjson.decode(table.concat(bytes)) end
    bytes[#bytes + 1] = byte
  end
  error("Chromium has ended")
end

local function post(method, parameters)
  last = last + 1
  local message = { id = last, method = method, sessionId = session }
  message.params = parameters
  to:write(cjson.encode(message), "\0"):flush()
  return last
end

-- What pages reported, and the requests that a test answers.
local reports, requests, loaded = {}, {}, 0
local function handle(message)
  local method, p = message.method, message.params
  if method == "Page.loadEventFired" then loaded = loaded + 1
  elseif method == "Page.javascriptDialogOpening" then
    reports[#reports + 1] = "a script of the recording ran: " .. p.message
    post("Page.handleJavaScriptDialog", { accept = true })
  elseif method == "Runtime.exceptionThrown" then
    reports[#reports + 1] = p.exceptionDetails.exception.description or p.exceptionDetails.text
  elseif method == "Runtime.consoleAPICalled" and p.type == "error" then
    reports[#reports + 1] = cjson.encode(p.args)
  elseif method == "Log.entryAdded" and p.entry.level == "error" then
    reports[#reports + 1] = p.entry.text .. " " .. (p.entry.url or "")
  elseif method == "Network.requestWillBeSent" then requests[#requests + 1] = p.request.url
  elseif method == "Fetch.requestPaused" then answer(p) end
end

local function send(method, parameters)
  local id = post(method, parameters)
  while true do
    local message = receive()
    if message.id == id then
      if message.error then error(method .. ": " .. message.error.message, 2) end
      return message.result
    elseif message.method then handle(message) end
  end
end

local function evaluate(expression)
  local result = send("Runtime.evaluate",
    { expression = expression, awaitPromise = true, returnByValue = true })
  if result.exceptionDetails then
    error(expression .. ": " .. result.exceptionDetails.exception.description, 2)
  end
  return result.result.value
end

-- Waits until an expression is true.
local function await(expression)
  local is_so = evaluate(([[(async () => {
    for (let i = 0; i < 1500; i++) {
      if (%s) return true;
      await new Promise(resolve => setTimeout(resolve, 20));
    }
    return false;
  })()]]):format(expression))
  expect(is_so, "never true: %s", expression)
end

local function load(url)
  reports, requests = {}, {}
  local before = loaded
  send("Page.navigate", { url = url })
  while loaded == before do handle(receive()) end
  await "document.body.dataset.ready"
end

local function window(width, height, scheme)
  send("Emulation.setDeviceMetricsOverride",
    { width = width, height = height, deviceScaleFactor = 1, mobile = false })
  send("Emulation.setEmulatedMedia",
    { features = { { name = "prefers-color-scheme", value = scheme } } })
end

local function press(key, modifiers)
  local code = { Enter = 13, Escape = 27 }
  local text = #key == 1 and key or key == "Enter" and "\r" or nil
  for _, kind in ipairs { "keyDown", "keyUp" } do
    send("Input.dispatchKeyEvent", { type = kind, key = key, modifiers = modifiers or 0,
      windowsVirtualKeyCode = code[key], text = kind == "keyDown" and text or nil })
  end
end

local function picture(name, height)
  evaluate "new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))"
  local data = send("Page.captureScreenshot", { captureBeyondViewport = height and true or false,
    clip = height and { x = 0, y = 0, width = 360, height = height, scale = 1 } or nil }).data
  local file <close> = assert(io.open(folder .. "/" .. name .. ".base64", "w"))
  file:write(data)
  file:close()
  os.execute(("base64 -d %s/%s.base64 > %s/%s.png && rm %s/%s.base64"):format(
    folder, name, folder, name, folder, name))
end

local function quiet(name)
  for _, report in ipairs(reports) do expect(false, "%s: %s", name, report) end
  reports = {}
end

-- All contents after the last turn, as samples.lua writes what it expects.
local dump = [[(() => {
  page.select(page.recording.last);
  const state = page.recording.stateBefore(page.recording.last);
  const {after} = readTurn(page.recording, page.recording.turn(page.recording.last), state);
  const text = value => typeof value === "string"
    ? '"' + value.replace(/[\x00-\x1f\x7f"\\]/g,
        c => "\\u" + c.charCodeAt().toString(16).padStart(4, "0")) + '"' : JSON.stringify(value);
  return [...after.objects.keys()].flatMap(o => [String(o), ...[...after.entries(o)].map(
    ([key, value]) => `${o} ${text(keyFrom(key))}=${
      after.target(value) === undefined ? text(value) : "#" + after.target(value)}`)]).join("\n");
})()]]

local function sorted(text)
  local lines = {}
  for line in text:gmatch("[^\n]+") do lines[#lines + 1] = line end
  table.sort(lines)
  return table.concat(lines, "\n")
end

local contrast = [[(() => {
  const parts = colour => {
    const [red, green, blue, opacity = 1] = colour.match(/[\d.]+/g).map(Number);
    return [red / 255, green / 255, blue / 255, opacity];
  };
  const light = colour => parts(colour).slice(0, 3)
    .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const back = element => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (parts(colour)[3] > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  for (const element of document.body.querySelectorAll("*")) {
    const hasText = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!hasText || !element.checkVisibility() || element.matches("script, :disabled")) continue;
    const colour = getComputedStyle(element)[element.matches("svg *") ? "fill" : "color"];
    const [dim, bright] = [light(colour), light(back(element))].sort((a, b) => a - b);
    if ((bright + 0.05) / (dim + 0.05) < 4.5) return element.textContent.trim();
  }
})()]]

local target = send("Target.createTarget", { url = "about:blank" }).targetId
session = send("Target.attachToTarget", { targetId = target, flatten = true }).sessionId
for _, domain in ipairs { "Page", "Runtime", "Log", "Network" } do send(domain .. ".enable") end
-- "threadTicks" counts CPU time, which does not depend on what else runs.
send("Performance.enable", { timeDomain = "threadTicks" })
window(1280, 800, "light")

-- All samples: time, turns, state, no request, no fault of a script.
for _, name in ipairs { "small", "turns", "million", "one", "hostile", "cut", "last", "missing" } do
  load("file://" .. folder .. "/" .. name .. ".html")
  local busy
  for _, metric in ipairs(send("Performance.getMetrics").metrics) do
    if metric.name == "TaskDuration" then busy = metric.value end
  end
  local turns, expected = read(name .. ".expected"):match("^(%d+)\n(.*)$")
  local ready = tonumber(evaluate "document.body.dataset.ready")
  local is_right = sorted(evaluate(dump)) == sorted(expected)
  expect(is_right, "%s: the state after the last turn is wrong", name)
  expect(evaluate "page.recording.turns.length" == tonumber(turns), "%s: %d turns, not %s", name,
    evaluate "page.recording.turns.length", turns)
  expect(name ~= "turns" or busy < 1, "%s: ready after %.1f s of CPU", name, busy)
  for _, url in ipairs(requests) do
    expect(url:find("^file:.*%.html") or url == "data:,", "%s: request to %s", name, url)
  end
  for _, tab in ipairs { "state", "graph", "details", "lists" } do
    evaluate(("find('tab-%s').click()"):format(tab))
  end
  local start = os.time()
  local steps = evaluate [[(() => {
    const start = performance.now(), {first, last} = page.recording;
    for (let i = 0; i < 10; i++) page.select(Math.round(first + (last - first) * i / 10));
    return Math.round((performance.now() - start) / 10);
  })()]]
  expect(evaluate [[page.recording.turns.every(turn => turn.number ===
    (page.recording.events(turn)[0][0] === "turn" ? page.recording.events(turn)[0][1] : 0))]],
    "%s: a turn has the lines of another", name)
  -- Each write of a turn finds its old value, whether the turn is reached from the one before or
  -- from a checkpoint.
  local wrong = evaluate [[(() => {
    const {recording} = page, same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
    let state = recording.stateBefore(recording.first);
    for (const turn of recording.turns) {
      const far = turn.index % 50 === 7 && recording.stateBefore(turn.index);
      for (const event of recording.events(turn)) {
        const states = far ? [state, far] : [state];
        if (event[0] === "write" && event[4] !== null) for (const at of states) {
          if (!same(at.value(event[2], event[3]), event[4])) return `turn ${turn.number}: ${event}`;
        }
        state.apply(event);
        if (far) far.apply(event);
      }
    }
  })()]]
  expect(not wrong or name == "missing", "%s: state: %s", name, wrong)
  quiet(name)
  print(("  %s: %s turns, %d events, ready in %d ms, %d ms to go to a turn"):format(name, turns,
    evaluate "page.recording.counts.events", ready, steps))
end

-- Texts of the program are shown as they are.
local text = "</script><img src=x onerror=alert(1)>"
load("file://" .. folder .. "/hostile.html")
evaluate "find('tab-state').click(), find('show-changes').click()"
for _, panel in ipairs { "turn", "state" } do
  expect(evaluate(("find('panel-%s').textContent.includes(%q)"):format(panel, text)),
    "hostile: not shown in %s", panel)
end
evaluate "details.show('object', 1)"
evaluate "find('details').querySelectorAll('.place').forEach(place => place.click())"
expect(evaluate "document.querySelectorAll('pre.source mark').length > 2", "hostile: no source")
evaluate "details.show('watcher', 1), lists.show(), graphView.show(page.digest)"
for _, panel in ipairs { "details", "lists", "graph" } do
  expect(evaluate(("find('%s').textContent.includes('</script><img')"):format(panel)),
    "hostile: not shown in %s", panel)
end
expect(evaluate "document.querySelectorAll('img, script:not([type])').length" == 2,
  "hostile: elements")
quiet "hostile"
picture "hostile"

load("file://" .. folder .. "/fuzzed.html")
evaluate [[(() => {
  for (const turn of page.recording.turns) {
    page.select(turn.index);
    graphView.show(page.digest);
    tree.openChanges();
  }
  for (const kind of ["object", "watcher", "property"]) {
    const {objects, watchers, properties} = page.recording;
    for (const id of { object: objects, watcher: watchers, property: properties }[kind].keys()) {
      details.show(kind, id);
    }
  }
  lists.show();
})()]]
expect(evaluate "page.recording.counts.unreadable > 100", "fuzzed: no line is refused")
quiet "fuzzed"

load("file://" .. folder .. "/cut.html")
expect(evaluate "find('faults').textContent.includes('in the middle of a line')", "cut: no note")
load("file://" .. folder .. "/missing.html")
expect(evaluate "find('faults').textContent" ==
  "Incomplete: 12 lines could not be recorded; 1 line could not be read.", "missing: %s",
  evaluate "find('faults').textContent")

-- Keyboard.
load("file://" .. folder .. "/small.html")
local function selected() return evaluate "page.recording.turn(page.selected).number" end
press "End"
expect(selected() == 42, "End: turn %s", selected())
press "ArrowLeft"
expect(selected() == 41, "ArrowLeft: turn %s", selected())
press "Home"
press "ArrowRight"
expect(selected() == 2, "ArrowRight: turn %s", selected())
press "/"
for key in ("shop.lua:55"):gmatch(".") do press(key) end
expect(evaluate "search.hits.length > 0", "search for a place: no hit")
press "Enter"
local hit = selected()
press "Enter"
expect(hit > 2 and selected() ~= hit or evaluate "search.hits.length" == 1, "Enter: turn %s", hit)
press "Escape"
expect(evaluate "document.activeElement === document.body", "Escape leaves the field")
press "?"
expect(evaluate "find('help').open", "? opens the help")
press "Escape"
expect(not evaluate "find('help').open", "Escape closes the help")
local searches = { ["turn 7"] = 1, ["shop #3"] = 1, never = 1, nothing = 0, sold = 13 }
for query, hits in pairs(searches) do
  evaluate(("find('query').value = %q, search.run()"):format(query))
  local found = evaluate "search.hits.length"
  expect(found == hits, "search for '%s': %d turns", query, found)
end
evaluate "find('query').value = '', search.run(), page.select(41), find('tab-state').click()"
expect(evaluate "find('tree').querySelectorAll('[role=treeitem]').length > 100",
  "tree: too few rows")
evaluate "find('tree').querySelector('[tabindex=\"0\"]').focus()"
press "ArrowDown"
press "ArrowRight"
expect(evaluate "page.selected === 41", "an arrow in the tree leaves the turn")
evaluate "find('tab-graph').click()"
expect(evaluate "document.querySelectorAll('.node').length === 150", "graph: %s nodes",
  evaluate "document.querySelectorAll('.node').length")
expect(evaluate "find('graph').textContent.includes('left out')", "graph: no note")
-- The time axis.
evaluate "timeline.whole(), find('timeline').focus()"
local function visible() return evaluate "timeline.to - timeline.from" end
local whole = visible()
press "+"
expect(visible() == whole / 2, "+ does not zoom")
press "0"
expect(visible() == whole, "0 does not show all")
local box = evaluate "(({x, y, width}) => ({x, y, width}))(timeline.canvas.getBoundingClientRect())"
local function mouse(kind, x, more)
  local event = { type = kind, x = box.x + x, y = box.y + 40, button = "left", clickCount = 1 }
  for name, value in pairs(more or {}) do event[name] = value end
  send("Input.dispatchMouseEvent", event)
end
mouse("mouseWheel", 400, { deltaX = 0, deltaY = -400, button = "none" })
await(("timeline.to - timeline.from < %f"):format(whole / 2))
local from = evaluate "timeline.from"
mouse("mousePressed", 400)
mouse("mouseMoved", 300)
mouse("mouseReleased", 300)
expect(evaluate "timeline.from" > from, "a drag does not move the axis")
evaluate "timeline.whole()"
mouse("mousePressed", 90)
mouse("mouseReleased", 90)
expect(selected() == 1, "a click selects turn %s", selected())
evaluate "page.select(41)"
-- A cycle opens as deep as somebody opens it.
evaluate "find('tab-state').click(), tree.openChanges()"
expect(evaluate "find('tree').textContent.includes('is shown further up')", "a cycle is not marked")
quiet "small"

-- Colours and widths.
for i, width in ipairs { 1280, 1280, 360, 360 } do
  local height, scheme = width == 360 and 740 or 800, i % 2 == 1 and "light" or "dark"
  window(width, height, scheme)
  for _, sample in ipairs { "small", "turns", "hostile" } do
    load("file://" .. folder .. "/" .. sample .. ".html")
    evaluate "page.select(Math.round(page.recording.last * 0.6)), details.show('object', 1)"
    for _, tab in ipairs { "lists", "details", "graph", "state" } do
      evaluate(("find('tab-%s').click()"):format(tab))
      local bad = evaluate(contrast)
      expect(not bad, "%s, %s, %s: too little contrast: %s", sample, scheme, tab, bad)
      local wide = evaluate "document.documentElement.scrollWidth"
      expect(wide <= width, "%s, %s: %d pixels wide, not %d", sample, tab, wide, width)
      picture(("%s-%d-%s-%s"):format(sample, width, scheme, tab), width == 360 and 1500)
    end
    quiet(sample)
  end
end
window(1280, 800, "light")

-- Live: a server that drops the connection, reports a gap and comes back.
local lines = {}
for line in io.lines(folder .. "/small.jsonl") do lines[#lines + 1] = line end
local half = #lines // 2
local asked, connections = {}, 0
local page_text = read("page.html"):gsub("connect%-src 'none'", "connect-src 'self'")
local function base64(text)
  local file = assert(io.open(folder .. "/body", "wb"))
  file:write(text):close()
  local pipe <close> = assert(io.popen(("base64 -w0 %s/body"):format(folder)))
  return pipe:read("a")
end
local function stream(first, final)
  local events = {}
  for i = first, final do events[#events + 1] = ("id: %d\ndata: %s\n\n"):format(i, lines[i]) end
  return table.concat(events)
end
function answer(p)
  local path = p.request.url:match("^http://inspector.test(/[^#]*)")
  local body, status, type = nil, 200, path == "/" and "text/html" or "text/event-stream"
  if path == "/" then body = page_text
  elseif p.request.headers.Authorization ~= "Bearer secret" then body, status = "no", 401
  elseif path == "/events" then
    connections = connections + 1
    asked[#asked + 1] = "events after " .. tostring(p.request.headers["Last-Event-ID"])
    if connections == 1 then body = ": hello\n\n" .. stream(1, half) .. "event: gap\ndata: 7\n\n"
    elseif connections == 2 then body = stream(half - 3, #lines)
    else return end
  else
    asked[#asked + 1] = path .. " " .. (p.request.postData or "")
    body = path == "/info" and '{"write":true}' or path == "/roots" and
      '[{"name":"shop </script>","object":3}]' or "answer to " .. path
  end
  post("Fetch.fulfillRequest", { requestId = p.requestId, responseCode = status,
    responseHeaders = { { name = "Content-Type", value = type } }, body = base64(body) })
end
send("Fetch.enable", { patterns = { { urlPattern = "*inspector.test*" } } })
load("http://inspector.test/#secret")
expect(evaluate "location.hash === ''", "live: the token stays in the address bar")
await "find('faults').textContent.includes('7 lines')"
local _, writes = read("small.jsonl"):gsub('%["write"', "")
local _, edits = read("small.jsonl"):gsub('%["edit"', "")
await(("page.recording.counts.writes === %d && page.selected === 41"):format(writes + edits))
expect(sorted(evaluate(dump)) == sorted(read("small.expected"):match("\n(.*)")),
  "live: the state is wrong")
expect(table.concat(asked, "\n"):find("events after " .. half, 1, true), "live: %s",
  table.concat(asked, ", "))
await "find('connection').textContent === 'connecting'"
evaluate "details.show('watcher', 1), find('details').querySelector('button.ask').click()"
await "document.querySelector('#details .answer').textContent === 'answer to /why?watcher=1'"
evaluate "find('tab-program').click()"
expect(evaluate "find('roots').textContent.includes('shop </script>')", "live: no roots")
evaluate [[(() => {
  const [object, key, value] = find("set").querySelectorAll("input");
  [object.value, key.value, value.value] = ["3", "name", "1.5"];
  find("set").requestSubmit();
  find("run").querySelector("textarea").value = "print(1)";
  find("run").requestSubmit();
})()]]
await "find('set-output').textContent && find('run-output').textContent"
local all = table.concat(asked, "\n")
expect(all:find('/set {"object":3,"key":"name","value":1.5}', 1, true), "live: set: %s", all)
expect(all:find('/run {"code":"print(1)"}', 1, true), "live: run: %s", all)
picture "live"
-- The memory of a long run is bounded.
evaluate [==[(() => {
  for (let t = 100; t < 12100; t++) {
    page.recording.add(`["turn",${t},"timer",0,${t * 1000}]`);
    page.recording.add(`["text",${t + 5000},"name ${t}"]`);
    page.recording.add(`["object",${t + 1000},0,"f${t}",[["a",1]]]`);
    page.recording.add(`["write",${t + 9000},${t + 1000},"key ${t}",null,1,0]`);
    page.recording.add(`["gone",${t + 1000}]`);
    page.recording.add(`["end",${t},${t * 1000 + 10}]`);
  }
  page.refresh();
})()]==]
for what, size in pairs { turns = 5600, keys = 6000, objects = 6000 } do
  local kept = evaluate(("page.recording.%s.size ?? page.recording.%s.length"):format(what, what))
  expect(kept < size, "live: %d %s are kept", kept, what)
end
evaluate "page.select(page.recording.first)"
quiet "live"

session = nil
post("Browser.close")
if faults > 0 then
  io.stderr:write(("✘ %d of %d checks failed\n"):format(faults, checks))
  os.exit(1)
end
print(("✔ report page: %d checks"):format(checks))

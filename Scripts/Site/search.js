// Shows the parts of pages that have all words of the query. `index` has, for each part, the title
// of its page, its heading, its address and its text.
const query = new URLSearchParams(location.search).get("q") || "";
const words = query.toLowerCase().split(/\s+/).filter(word => word);

// Names match best, then beginnings of words, then anything. 0: not there.
function score(word, title, heading, text) {
  const name = heading.split("(")[0];
  if (heading === word || name === word || name.split(/[.:]/).includes(word)) return 100;
  if (title === word) return 60;
  const start = new RegExp("(^|[^a-z0-9_])" + word.replace(/\W/g, "\\$&"));
  if (start.test(heading)) return 40;
  if (heading.includes(word)) return 20;
  if (start.test(title)) return 10;
  if (!text.includes(word)) return title.includes(word) ? 5 : 0;
  return Math.min(8, text.split(word).length - 1);
}

const found = [];
for (const [title, heading, address, text] of index) {
  const lower = [title, heading, text].map(part => part.toLowerCase());
  const scores = words.map(word => score(word, ...lower));
  // Where both fit as well, the Swift API comes last.
  const sum = scores.reduce((a, b) => a + b, 0) - (address.startsWith("Swift/") ? 3 : 0);
  if (scores.length && !scores.includes(0)) found.push({ sum, title, heading, address, text });
}
found.sort((a, b) => b.sum - a.sum || a.address.length - b.address.length);

function element(tag, text, parent) {
  const result = document.createElement(tag);
  result.textContent = text;
  parent.append(result);
  return result;
}

const results = document.getElementById("results");
document.querySelector("input[name=q]").value = query;
if (words.length) {
  results.textContent = found.length ? `${found.length} results` : "Nothing has all these words.";
}
for (const { title, heading, address, text } of found.slice(0, 60)) {
  const result = element("div", "", results);
  result.className = "result";
  const isTitle = heading === title || title.endsWith("› " + heading);
  element("a", isTitle ? title : `${title} › ${heading}`, result).href = address;
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
  element("p", (at ? "… " : "") + text.slice(at, at + 180), result);
}

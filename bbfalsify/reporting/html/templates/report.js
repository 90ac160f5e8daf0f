// The page: plots where they come into sight, the table of counterexamples, and what is shown of each when it is opened.
"use strict";
const read = id => {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
};

// ---------------------------------------------------------------- plots of the whole run, drawn when they are near

const later = new IntersectionObserver(entries => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    later.unobserve(entry.target);
    new Plot(entry.target, read(entry.target.dataset.plot));
  }
}, {rootMargin: "300px"});
document.querySelectorAll("[data-plot]").forEach(host => later.observe(host));
// A few are drawn in any case, once the page is there: a capture of the whole page does not scroll.
window.addEventListener("load", () => setTimeout(() => {
  [...document.querySelectorAll("[data-plot]:not(.plot)")].slice(0, 20).forEach(host => {
    later.unobserve(host);
    new Plot(host, read(host.dataset.plot));
  });
}, 50));

// ---------------------------------------------------------------- one counterexample

function fanOf(data, name) {
  if (!data.fan || !data.fan.signals[name]) return undefined;
  data.fan.open = data.fan.open || {times: unpack(data.fan.times), signals: {}};
  const open = data.fan.open;
  open.signals[name] = open.signals[name] || unpack(data.fan.signals[name]);
  return {samples: data.fan.samples, violated: data.fan.violated, times: open.times, ys: open.signals[name]};
}

function specOf(data, fans) {
  const times = unpack(data.times), panels = [];
  for (const [signals, input] of [[data.outputs, false], [data.inputs, true]]) {
    for (const [name, values] of Object.entries(signals)) {
      const step = input || (data.held || []).includes(name);
      const title = data.units[name] ? `${name} [${data.units[name]}]` : name;
      panels.push({title, step, fan: fanOf(data, name), limits: (data.limits || {})[name],
                   lines: [{name, xs: times, ys: unpack(values), step, kind: input ? "input" : "output"}]});
    }
  }
  if (data.robustness) {
    panels.splice(Object.keys(data.outputs).length, 0, {
      title: data.robustness.title, zero: true,
      lines: [{name: "robustness", xs: unpack(data.robustness.times), ys: unpack(data.robustness.values), step: true,
               kind: "robustness"}]});
  }
  const lanes = acts(data) ? [{title: "actions", events: data.word, key: data.key}] : [];
  if (data.shrunk && lanes.length) lanes.push({title: "matters", events: data.shrunk});
  return {title: data.title, x: [0, data.end], panels, lanes, marks: data.marks, around: data.around, fans};
}

// A profile without actions has one that ends the use, behind its end.
function acts(data) { return data.word.some(([time]) => time <= data.end); }

function copyable(text) {
  const button = make("button", {type: "button", class: "copy"}, "copy");
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "copied"; }
    catch { getSelection().selectAllChildren(button.previousElementSibling); button.textContent = "selected"; }
  });
  return make("div", {class: "command"}, make("code", {}, text), button);
}

function detail(data) {
  const box = make("div", {class: "detail-box"});
  const facts = make("dl", {class: "facts"});
  for (const [name, text] of data.facts) facts.append(make("div", {}, make("dt", {}, name), make("dd", {}, text)));
  box.append(facts);
  for (const note of data.notes) box.append(make("p", {class: "note"}, note));
  if (data.times) {
    const host = make("div", {}), shown = [true, true];
    let plot = null;
    if (data.fan) {
      const count = data.fan.violated.filter(Boolean).length, others = data.fan.violated.length - count;
      const choice = (kind, text, number) => {
        const check = make("input", {type: "checkbox"});
        check.checked = true;
        check.addEventListener("change", () => { shown[number] = check.checked; plot.paint(); });
        return make("label", {class: kind}, check, ` ${text}`);
      };
      box.append(make("div", {class: "fan-legend"}, `some of the ${acts(data) ? "traces along these actions" : "uses"}: `,
        choice("violating", `${count} that violate here`, 1), choice("others", `${others} that do not`, 0)));
    }
    box.append(host);
    // Its width is known only once it stands in the page.
    queueMicrotask(() => { plot = new Plot(host, specOf(data, shown)); });
  }
  if (data.when) {
    const host = make("div", {});
    box.append(make("h4", {}, "when it happens"), host);
    queueMicrotask(() => new Plot(host, data.when));
  }
  box.append(make("h4", {}, "see it again"), ...data.commands.map(copyable));
  return box;
}

// ---------------------------------------------------------------- the table

// Rows {element, index, keys, detail} that the heads of their table sort; gives the order in which they stand.
function sortable(root) {
  const keys = read("rows"), body = root.tBodies[0];
  const rows = Array.from(body.rows, (element, index) => ({element, index, keys: keys[index]}));
  let order = rows;
  const heads = Array.from(root.tHead.querySelectorAll("th[data-key]"));
  const sort = (head, direction) => {
    const key = +head.dataset.key, sign = direction === "descending" ? -1 : 1;
    const compare = (a, b) => typeof a === "string" ? a.localeCompare(b) : a - b;
    order = rows.slice().sort((a, b) => {
      const [p, q] = [a.keys[key], b.keys[key]];
      if (p === null || q === null) return (p === null) - (q === null);
      return sign * compare(p, q) || a.index - b.index;
    });
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", direction);
    for (const row of order) { body.append(row.element); if (row.detail) body.append(row.detail); }
  };
  for (const head of heads) {
    head.querySelector("button").addEventListener("click", () => {
      const first = head.dataset.first || "ascending", other = first === "ascending" ? "descending" : "ascending";
      sort(head, head.getAttribute("aria-sort") === first ? other : first);
    });
  }
  return {rows, order: () => order};
}

// Shows the rows that fit, and counts them.
function filtered(rows, fits) {
  const counted = document.getElementById("counted");
  let visible = 0;
  for (const row of rows) {
    const wanted = fits(row);
    row.element.hidden = !wanted;
    if (row.detail) row.detail.hidden = !wanted || !row.element.classList.contains("open");
    visible += wanted;
  }
  counted.textContent = visible === rows.length ? `${visible}` : `${visible} of ${rows.length}`;
}

function runs(root) {
  const {rows} = sortable(root), text = document.getElementById("filter");
  if (!text) return;
  const words = row => row.element.textContent.toLowerCase();
  text.addEventListener("input", () => {
    const wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    filtered(rows, row => wanted.every(word => words(row).includes(word)));
  });
}

function table(root) {
  const {rows, order} = sortable(root);
  const toggle = (row, open) => {
    const button = row.element.querySelector("button");
    if (open === undefined) open = button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", open);
    row.element.classList.toggle("open", open);
    if (open && !row.detail) {
      const cell = make("td", {colspan: row.element.cells.length});
      row.detail = make("tr", {class: "detail"}, cell);
      row.element.after(row.detail);
      cell.append(detail(read(`cx-${row.index}`)));
    }
    if (row.detail) row.detail.hidden = !open;
  };
  for (const row of rows) {
    row.element.addEventListener("click", event => {
      if (!event.target.closest("a") && !getSelection().toString()) toggle(row);
    });
    row.element.querySelector("button").addEventListener("keydown", event => {
      const by = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (!by) return;
      event.preventDefault();
      const visible = order().filter(other => !other.element.hidden);
      const next = visible[visible.indexOf(row) + by];
      if (next) next.element.querySelector("button").focus();
    });
  }
  const text = document.getElementById("filter"), selects = Array.from(document.querySelectorAll("select[data-key]"));
  const filter = () => {
    const wanted = text.value.toLowerCase().split(/[\s·]+/).filter(Boolean).join("·");
    filtered(rows, row => row.keys[2].toLowerCase().includes(wanted) &&
      selects.every(select => !select.value || [row.keys[+select.dataset.key]].flat().includes(select.value)));
  };
  text.addEventListener("input", filter);
  selects.forEach(select => select.addEventListener("change", filter));
  const follow = () => {
    const row = rows.find(candidate => `#${candidate.element.id}` === decodeURIComponent(location.hash));
    if (!row) return;
    toggle(row, true);
    row.element.scrollIntoView({block: "start"});
    row.element.querySelector("button").focus({preventScroll: true});
  };
  window.addEventListener("hashchange", follow);
  filter();
  if (location.hash) follow(); else if (rows.length) toggle(rows[0], true);
}

const campaign = document.getElementById("run-table");
if (campaign) runs(campaign);
const counterexamples = document.getElementById("counterexample-table");
if (counterexamples) {
  // On a narrow screen the table scrolls sideways; what is opened stays as wide as what is seen.
  const frame = counterexamples.parentElement;
  const measure = () => frame.style.setProperty("--seen", `${frame.clientWidth - 8}px`);
  new ResizeObserver(measure).observe(frame);
  measure();
  table(counterexamples);
}
document.querySelectorAll(".command > code:only-child").forEach(code => {
  const made = copyable(code.textContent);
  code.parentElement.replaceWith(made);
});
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach(part => { part.open = true; });
  document.querySelectorAll("[data-plot]:not(.plot)").forEach(host => new Plot(host, read(host.dataset.plot)));
});
document.documentElement.dataset.ready = Math.round(performance.now());

// Small plots in SVG: panels above a common axis, fans of traces, a timeline of actions, a cross-hair, zooming.
"use strict";
const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function draw(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.appendChild(element);
  return element;
}

// Numbers travel as base64: {f} are 32-bit floats, {u, lo, hi} are 16-bit parts of the way from lo to hi.
function unpack(packed) {
  const text = atob(packed.f === undefined ? packed.u : packed.f);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const view = new DataView(bytes.buffer);
  if (packed.f !== undefined) {
    return Float64Array.from({length: bytes.length / 4}, (_, i) => view.getFloat32(4 * i, true));
  }
  const step = (packed.hi - packed.lo) / 65535;
  return Float64Array.from({length: bytes.length / 2}, (_, i) => packed.lo + step * view.getUint16(2 * i, true));
}

function niceTicks(low, high, about) {
  const raw = (high - low) / Math.max(1, about);
  if (!(raw > 0) || !isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k <= Math.floor(high / step + 1e-9); k++) ticks.push(k * step);
  return ticks;
}

function shown(value, digits = 4) {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  const small = Math.abs(value) < 1e-3 && value !== 0, large = Math.abs(value) >= 1e6;
  return small || large ? String(+value.toPrecision(digits)).includes("e") ? String(+value.toPrecision(digits)).replace("e+", "e")
    : value.toExponential(Math.max(0, digits - 2)).replace(/\.?0+e\+?/, "e") : String(+value.toPrecision(digits));
}

// The index of the last entry of a growing list that is not larger than x.
function placeOf(list, x) {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= x) low = middle; else high = middle - 1;
  }
  return low;
}

const kindOf = (line, number) => line.kind || "c" + number % 6;

function pathOf(xs, ys, from, to, x, y, step) {
  let path = "", lastX = NaN, lastY = NaN;
  for (let i = from; i < to; i++) {
    if (!isFinite(ys[i])) { lastX = NaN; continue; }
    const px = Math.round(10 * x(xs[i])) / 10, py = Math.round(10 * y(ys[i])) / 10;
    if (px === lastX && py === lastY) continue;
    if (Number.isNaN(lastX)) path += `M${px} ${py}`;
    else path += step ? (px === lastX ? `V${py}` : py === lastY ? `H${px}` : `H${px}V${py}`) : `L${px} ${py}`;
    lastX = px; lastY = py;
  }
  return path;
}

/* spec: {x: [from, to], label, panels: [{title, lines: [{name, xs, ys, step, kind}], fan, zero,
                                       limits: [{at, operator, text, from, to}]}],
          lanes: [{title, events: [[time, action]], key}], marks: [{at, name, kind}], around: [from, to],
          fans: which traces of fans are drawn: [those that do not violate, those that do]}
   A fan is {samples, violated, times, ys}: traces one after the other. */
class Plot {
  constructor(host, spec) {
    this.host = host; this.spec = spec; this.view = spec.x.slice(); this.cursor = null;
    host.classList.add("plot");
    this.tools = make("div", {class: "tools"});
    this.readout = make("output", {class: "readout"});
    this.tools.append(this.readout);
    if (spec.around) this.tools.append(this.button("around the violation", () => this.zoom(spec.around)));
    this.whole = this.button("whole", () => this.zoom(spec.x));
    this.tools.append(this.whole);
    this.canvas = make("div", {class: "canvas", tabindex: "0", role: "img", "aria-label": spec.title || "plot"});
    this.canvas.title = "drag to zoom, double-click for the whole; arrow keys move the cross-hair";
    host.append(this.tools, ...this.legend(), this.canvas);
    this.listen();
    this.width = 0;
    new ResizeObserver(() => { if (Math.abs(host.clientWidth - this.width) > 2) this.paint(); }).observe(host);
    this.paint();
  }

  button(text, action) {
    const button = make("button", {type: "button"}, text);
    button.addEventListener("click", action);
    return button;
  }

  // Once for all panels, which show the same things; as text of the page it finds its place on narrow screens.
  legend() {
    const kinds = new Map();
    for (const panel of this.spec.panels) {
      if (panel.lines.length > 1) panel.lines.forEach((line, number) => kinds.set(line.name, kindOf(line, number)));
    }
    if (!kinds.size) return [];
    const items = Array.from(kinds, ([name, kind]) => {
      const svg = document.createElementNS(SVG, "svg"), item = make("span", {}, svg, name);
      svg.setAttribute("width", 18); svg.setAttribute("height", 10);
      draw(svg, "path", {d: "M1 5h15", class: `line ${kind}`});
      return item;
    });
    return [make("div", {class: "legend"}, ...items)];
  }

  zoom(range) { this.view = range.slice(); this.paint(); }

  paint() {
    const spec = this.spec, [from, to] = this.view;
    const width = this.width = Math.max(280, this.host.clientWidth);
    const left = 62, right = 14, laneHeight = 40, panelHeight = spec.height || 160, gap = 26;
    const inner = width - left - right;
    this.x = value => left + inner * (value - from) / (to - from);
    this.time = pixel => from + (to - from) * (pixel - left) / inner;
    const lanes = spec.lanes || [];
    const height = lanes.length * laneHeight + spec.panels.length * (panelHeight + gap) + 36;
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("width", width); svg.setAttribute("height", height);
    const clip = `clip${Plot.count = (Plot.count || 0) + 1}`;
    draw(draw(svg, "clipPath", {id: clip}), "rect", {x: left, y: 0, width: inner, height});
    let top = 4;
    for (const lane of lanes) { this.lane(svg, lane, top, left, inner, clip); top += laneHeight; }
    this.first = top;
    const ticks = niceTicks(from, to, inner / 90);
    for (const panel of spec.panels) {
      top += 18;
      this.panel(svg, panel, top, panelHeight, left, inner, ticks, clip);
      top += panelHeight + gap - 18;
    }
    this.bottom = top - gap + 18;
    for (const tick of ticks) {
      draw(svg, "text", {x: this.x(tick), y: top + 4, class: "tick", "text-anchor": "middle"}, shown(tick, 6));
    }
    draw(svg, "text", {x: left + inner, y: top + 20, class: "axis", "text-anchor": "end"}, spec.label || "time");
    const marks = draw(svg, "g", {"clip-path": `url(#${clip})`});
    for (const mark of spec.marks || []) {
      if (mark.at < from || mark.at > to) continue;
      const x = this.x(mark.at);
      draw(marks, "path", {d: `M${x} 2V${this.bottom}`, class: `mark ${mark.kind}`});
      const end = x > left + inner * 0.8;
      draw(marks, "text", {x: x + (end ? -5 : 5), y: this.bottom - 5, class: `marked ${mark.kind}`,
                           "text-anchor": end ? "end" : "start"}, mark.name);
    }
    this.cross = draw(svg, "path", {class: "cross"});
    this.box = draw(svg, "rect", {class: "drag", y: 0, height: this.bottom, width: 0});
    this.canvas.replaceChildren(svg);
    this.whole.hidden = from === spec.x[0] && to === spec.x[1];
    this.point(this.cursor);
  }

  lane(svg, lane, top, left, inner, clip) {
    draw(svg, "text", {x: left - 8, y: top + 21, class: "tick", "text-anchor": "end"}, lane.title);
    draw(svg, "path", {d: `M${left} ${top + 17}h${inner}`, class: "grid"});
    const group = draw(svg, "g", {"clip-path": `url(#${clip})`});
    const free = [left - 3, left - 3];  // right ends of the labels above and below the line
    lane.events.forEach(([time, action], number) => {
      const x = this.x(time), inKey = lane.key === undefined || number < lane.key;
      if (x < left - 1 || x > left + inner + 1) return;
      const tick = draw(group, "path", {d: `M${x} ${top + 10}v14`, class: inKey ? "event" : "event after"});
      draw(tick, "title", {}, `${action} at ${shown(time, 6)}`);
      const text = action.length > 14 ? action.slice(0, 13) + "…" : action, room = 6.3 * text.length + 6;
      const row = x - 2 >= free[0] ? 0 : 1, fits = x + room <= left + inner + 4, start = fits ? x + 3 : x - room + 3;
      if ((fits ? x - 2 : x - room) < free[row]) return;
      draw(group, "text", {x: start, y: top + (row ? 33 : 10), class: inKey ? "action" : "action after"}, text);
      free[row] = fits ? x + room : x + 3;
    });
  }

  panel(svg, panel, top, height, left, inner, ticks, clip) {
    const [from, to] = this.view;
    let low = Infinity, high = -Infinity;
    const take = value => { if (value < low) low = value; if (value > high) high = value; };
    for (const line of panel.lines) {
      const first = Math.max(0, placeOf(line.xs, from) - 0), last = placeOf(line.xs, to);
      for (let i = first; i <= last; i++) if (isFinite(line.ys[i])) take(line.ys[i]);
    }
    if (panel.fan) {
      for (let i = 0; i < panel.fan.ys.length; i++) {
        if (panel.fan.times[i] >= from && panel.fan.times[i] <= to) take(panel.fan.ys[i]);
      }
    }
    if (panel.zero) take(0);
    for (const limit of panel.limits || []) take(limit.at);
    if (low > high) { low = 0; high = 1; }
    const margin = 0.06 * (high - low) || Math.max(Math.abs(high), 1) * 0.1;
    if (!(panel.floor && low === 0)) low -= margin;
    high += margin;
    const y = value => top + height * (high - value) / (high - low);
    for (const tick of niceTicks(low, high, height / 28)) {
      draw(svg, "path", {d: `M${left} ${y(tick)}h${inner}`, class: tick === 0 && panel.zero ? "zero" : "grid"});
      draw(svg, "text", {x: left - 8, y: y(tick) + 4, class: "tick", "text-anchor": "end"}, shown(tick, 5));
    }
    for (const tick of ticks) draw(svg, "path", {d: `M${this.x(tick)} ${top}v${height}`, class: "grid faint"});
    const room = Math.floor(inner / 7.2), cut = panel.title.length > room ? panel.title.slice(0, room - 1) + "…" : panel.title;
    draw(draw(svg, "text", {x: left, y: top - 6, class: "title"}, cut), "title", {}, panel.title);
    const group = draw(svg, "g", {"clip-path": `url(#${clip})`});
    for (const limit of panel.limits || []) this.limit(group, limit, y, top, height, left, inner);
    if (panel.fan) this.fan(group, panel, y);
    panel.lines.forEach((line, number) => {
      const d = pathOf(line.xs, line.ys, 0, line.xs.length, this.x, y, line.step);
      draw(group, "path", {d, class: `line ${kindOf(line, number)}`});
    });
    draw(svg, "rect", {x: left, y: top, width: inner, height, class: "frame"});
  }

  // A threshold of the formula, and the time in which it counts; the side where it does not hold is shaded.
  limit(group, limit, y, top, height, left, inner) {
    const from = Math.max(left, this.x(limit.from)), to = Math.min(left + inner, Math.max(this.x(limit.to), from + 2));
    const at = y(limit.at), over = limit.operator.startsWith("<");
    if (to <= from) return;
    if (over || limit.operator.startsWith(">")) {
      draw(group, "rect", {x: from, width: to - from, y: over ? top : at, class: "forbidden",
                           height: Math.max(0, over ? at - top : top + height - at)});
    }
    draw(group, "path", {d: `M${from} ${at}H${to}`, class: "limit"});
    draw(group, "text", {x: from + 4, y: at + (over ? -4 : 12), class: "limited"}, limit.text);
  }

  // Violating traces and the others, each kind as one path.
  fan(group, panel, y) {
    const fan = panel.fan, paths = ["", ""];
    let start = 0;
    fan.samples.forEach((count, number) => {
      paths[fan.violated[number] ? 1 : 0] += pathOf(fan.times, fan.ys, start, start + count, this.x, y, panel.step);
      start += count;
    });
    const shown = this.spec.fans || [true, true];
    if (shown[0]) draw(group, "path", {d: paths[0], class: "fan"});
    if (shown[1]) draw(group, "path", {d: paths[1], class: "fan violating"});
  }

  point(time) {
    this.cursor = time;
    if (time === null) { this.cross.setAttribute("d", ""); this.readout.value = ""; return; }
    const x = this.x(time);
    this.cross.setAttribute("d", `M${x} 0V${this.bottom}`);
    const parts = [`${this.spec.label || "time"} ${shown(time, 6)}`];
    for (const panel of this.spec.panels) {
      for (const line of panel.lines) {
        parts.push(`${line.name} ${shown(line.ys[placeOf(line.xs, time)])}`);
      }
    }
    this.readout.value = parts.join("   ");
  }

  listen() {
    let begin = null;
    const at = event => {
      const place = event.clientX - this.canvas.getBoundingClientRect().left;
      return Math.min(this.view[1], Math.max(this.view[0], this.time(place)));
    };
    this.canvas.addEventListener("pointermove", event => {
      this.point(at(event));
      if (begin !== null) {
        const a = this.x(begin), b = this.x(this.cursor);
        this.box.setAttribute("x", Math.min(a, b)); this.box.setAttribute("width", Math.abs(b - a));
      }
    });
    this.canvas.addEventListener("pointerdown", event => { if (event.button === 0) begin = at(event); });
    window.addEventListener("pointerup", event => {
      if (begin === null) return;
      const range = [begin, at(event)].sort((a, b) => a - b);
      begin = null;
      if (this.x(range[1]) - this.x(range[0]) > 6) this.zoom(range); else this.box.setAttribute("width", 0);
    });
    this.canvas.addEventListener("pointerleave", () => { if (begin === null) this.point(null); });
    this.canvas.addEventListener("dblclick", () => this.zoom(this.spec.x));
    this.canvas.addEventListener("keydown", event => {
      const direction = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (direction) {
        const step = (this.view[1] - this.view[0]) * (event.shiftKey ? 0.1 : 0.01) * direction;
        const start = this.cursor === null ? (this.view[0] + this.view[1]) / 2 : this.cursor;
        this.point(Math.min(this.view[1], Math.max(this.view[0], start + step)));
        event.preventDefault();
      } else if (event.key === "Escape") this.zoom(this.spec.x);
    });
  }
}
